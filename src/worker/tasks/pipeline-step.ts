import type { Header } from '../../broker/broker.ts'
import type { ConnectRecord, RawConfig, SourceRecord } from '../../sdk/index.ts'
import type { ErrorConfig } from '../configuration/task-config.ts'
import type { Stage } from './processing-context.ts'

/** What one plugin does in a pipeline. A predicate selects the records of the transformation behind it. */
export type StepRole = 'predicate' | 'transformation' | 'header_converter' | 'key_converter' | 'value_converter'

/** One plugin of a pipeline. */
export type PipelineStep = {
  readonly role: StepRole
  /** The class name that is reported for a failure. For a predicate it is that of its transformation. */
  readonly className: string
  /** Whether a transformation is applied only to records that the predicate before it has selected. */
  readonly isConditional: boolean
  /** Whether a predicate selects the records that it does not match. */
  readonly isNegated: boolean
  readonly runs: LocalStep | RemoteStep
}

/** A step in this thread. */
export type LocalStep = { readonly where: 'local'; readonly apply: (item: PipelineItem) => void | Promise<void> }

/** A step in another process: one of Java. */
export type RemoteStep = {
  readonly where: 'remote'
  readonly location: string
  readonly class: string
  readonly version: string
  readonly config: RawConfig
}

/** What the steps of a pipeline have made of one record: its data, its bytes, or both. */
export type PipelineItem = {
  /** The data. For the record of a sink, what is not converted yet is null or empty. */
  record: ConnectRecord
  /** The record as the source returned it; undefined for the record of a sink. */
  readonly source: SourceRecord | undefined
  /** Bytes of the key, value and headers: as stored for a sink, as converted for a source. */
  key: Uint8Array | null
  value: Uint8Array | null
  headers: readonly Header[]
  /** Whether the next conditional transformation is applied to this record. */
  isSelected: boolean
  outcome: 'passing' | 'dropped' | StepFailure
}

export type StepFailure = { readonly stage: Stage; readonly className: string; readonly error: unknown }

/** Consecutive steps that run in the same place. */
export type Segment = LocalSegment | RemoteSegment
export type LocalSegment = { readonly where: 'local'; readonly steps: readonly (PipelineStep & { runs: LocalStep })[] }
export type RemoteSegment = {
  readonly where: 'remote'
  readonly steps: readonly (PipelineStep & { runs: RemoteStep })[]
}

/** Consecutive remote steps that have been opened. */
export type RemoteChain = {
  /**
   * Applies the steps to each item, and changes the items that pass. A step that fails with a retriable error is retried
   * there. Resolves to an outcome for each item and to the number of retries.
   */
  apply(
    items: readonly PipelineItem[],
  ): Promise<{ readonly outcomes: readonly RemoteOutcome[]; readonly retries: number }>
  close(): void
}

/** `step` is the index of the failed step. */
export type RemoteOutcome = 'passed' | 'dropped' | { readonly failed: unknown; readonly step: number }

/** Opens the remote steps of a task. */
export type RemoteSteps = {
  /** Whether plugins of this location run in another process. */
  isRemote(location: string | undefined): location is string
  open(options: RemoteChainOptions): Promise<RemoteChain>
}

export type RemoteChainOptions = {
  /** The location whose process runs the steps, which may come from others. */
  readonly host: string
  /** Name of the task for log lines. */
  readonly name: string
  readonly isSink: boolean
  /** Whether the steps are next to a connector that runs in the same process. */
  readonly isBesideConnector: boolean
  readonly steps: RemoteSegment['steps']
  readonly errors: ErrorConfig
  /** Aborts when the task has to stop: nothing is retried any more. */
  readonly signal: AbortSignal
}

const STAGES: Readonly<Record<StepRole, Stage>> = {
  predicate: 'TRANSFORMATION',
  transformation: 'TRANSFORMATION',
  header_converter: 'HEADER_CONVERTER',
  key_converter: 'KEY_CONVERTER',
  value_converter: 'VALUE_CONVERTER',
}

export function stepFailure({ role, className }: PipelineStep, error: unknown): StepFailure {
  return { stage: STAGES[role], className, error }
}

/**
 * Orders the steps of a source. Its headers are converted before key and value, because converters receive them; of these
 * two, the remote one is first, beside a remote step before it.
 */
export function sourceSteps(
  transformations: readonly PipelineStep[],
  converters: readonly PipelineStep[],
): readonly PipelineStep[] {
  const headers = converters.filter(({ role }) => role === 'header_converter')
  const others = converters.filter(({ role }) => role !== 'header_converter')
  return [...transformations, ...headers, ...others.filter(isRemote), ...others.filter(isLocal)]
}

/** Orders the steps of a sink. Its converters are independent of each other; the remote ones are beside a remote step. */
export function sinkSteps(
  transformations: readonly PipelineStep[],
  converters: readonly PipelineStep[],
): readonly PipelineStep[] {
  return [...converters.filter(isLocal), ...converters.filter(isRemote), ...transformations]
}

/** Splits the steps where the place changes, so that a record crosses to another process once for each remote segment. */
export function splitIntoSegments(steps: readonly PipelineStep[]): readonly Segment[] {
  const segments: { where: 'local' | 'remote'; steps: PipelineStep[] }[] = []
  for (const step of steps) {
    const last = segments.at(-1)
    if (last?.where === step.runs.where) last.steps.push(step)
    else segments.push({ where: step.runs.where, steps: [step] })
  }
  return segments as readonly Segment[]
}

function isRemote({ runs }: PipelineStep): boolean {
  return runs.where === 'remote'
}

function isLocal({ runs }: PipelineStep): boolean {
  return runs.where === 'local'
}
