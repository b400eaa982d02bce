import type { ChainItem } from '../../java/chain-codec.ts'
import type { ErrorPolicy, Stage } from './error-policy.ts'

/** What one plugin does in a pipeline. A predicate selects the records of the transformation behind it. */
export type StepRole = 'predicate' | 'transformation' | 'header_converter' | 'key_converter' | 'value_converter'

/** One record on its way through a pipeline: its data, its bytes, and where it comes from. */
export type PipelineItem = ChainItem & { failure: StepFailure | undefined }

/** Why a record did not pass a step. */
export type StepFailure = { readonly stage: Stage; readonly className: string; readonly error: unknown }

/** A step of a pipeline: a plugin of this process, or consecutive plugins of another one. */
export interface PipelineStep {
  /**
   * Applies the step to each item in their order, and changes them. Resolves to the items that pass. The others were dropped, or
   * failed and could not be retried: those have a `failure`. With `errors.tolerance=none`, no item behind a failed one passes.
   * Rejects only for an error that concerns more than a record.
   */
  apply(items: readonly PipelineItem[], policy: ErrorPolicy): Promise<readonly PipelineItem[]>
  close?(): void
}

const STAGES: Readonly<Record<StepRole, Stage>> = {
  predicate: 'TRANSFORMATION',
  transformation: 'TRANSFORMATION',
  header_converter: 'HEADER_CONVERTER',
  key_converter: 'KEY_CONVERTER',
  value_converter: 'VALUE_CONVERTER',
}

export function stepFailure(
  { role, className }: { readonly role: StepRole; readonly className: string },
  error: unknown,
): StepFailure {
  return { stage: STAGES[role], className, error }
}
