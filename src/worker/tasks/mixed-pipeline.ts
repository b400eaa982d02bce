import type { PluginOrigin } from '../../plugins/plugin-catalog.ts'
import { parseTaskConfig } from '../configuration/task-config.ts'
import { taskKey } from '../model/task-key.ts'
import type { ErrorPolicy } from './error-policy.ts'
import { type ConfiguredPlugin, pipelinePlugins, taskPlugins } from './pipeline-plugins.ts'
import {
  type LocalSegment,
  type PipelineItem,
  type RemoteChain,
  type RemoteSegment,
  type StepFailure,
  sinkSteps,
  sourceSteps,
  splitIntoSegments,
  stepFailure,
} from './pipeline-step.ts'
import { PipelineStepFactory } from './pipeline-step-factory.ts'
import type { WorkerTaskContext } from './task-context.ts'

export type PipelineContext = Pick<WorkerTaskContext, 'spec' | 'plugins' | 'access' | 'remote' | 'signal'>

type OpenSegment = LocalSegment | (RemoteSegment & { readonly chain: RemoteChain })

/** A pipeline with plugins in other processes. A batch passes one segment after the other. */
export class MixedPipeline {
  readonly #segments: readonly OpenSegment[]

  private constructor(segments: readonly OpenSegment[]) {
    this.#segments = segments
  }

  /** Resolves to undefined for a pipeline whose plugins all run in this thread. Rejects when a plugin cannot be created. */
  static async open({
    spec,
    plugins: catalog,
    access,
    remote,
    signal,
  }: PipelineContext): Promise<MixedPipeline | undefined> {
    if (remote === undefined) return undefined
    const { kind, config } = spec
    const workerDefaults = spec.worker.converters
    const locate = (named: ConfiguredPlugin) => {
      const plugin = catalog.find(named.kind, named.className, named.version) as PluginOrigin | undefined
      return remote.isRemote(plugin?.location) ? plugin?.location : undefined
    }
    const plugins = pipelinePlugins(config, workerDefaults)
    const [connector, ...parts] = taskPlugins(kind, config, workerDefaults).map(locate)
    if (parts.every((location) => location === undefined)) return undefined
    const host = [connector, ...parts].find((location) => location !== undefined)!
    const factory = new PipelineStepFactory({ kind, catalog, access, remote, host })
    const inOrder = kind === 'source' ? sourceSteps : sinkSteps
    const allSteps = inOrder(factory.transformations(plugins), factory.converters(plugins))
    const name = taskKey(spec)
    const { errors } = parseTaskConfig(config)
    const opened: OpenSegment[] = []
    const pipeline = new MixedPipeline(opened)
    try {
      const segments = splitIntoSegments(allSteps)
      const beside = connector === undefined ? undefined : kind === 'source' ? segments[0] : segments.at(-1)
      for (const segment of segments) {
        if (segment.where === 'local') opened.push(segment)
        else {
          const { steps } = segment
          const isBesideConnector = segment === beside
          const chain = await remote.open({
            host,
            name,
            isSink: kind === 'sink',
            isBesideConnector,
            steps,
            errors,
            signal,
          })
          opened.push({ ...segment, chain })
        }
      }
      return pipeline
    } catch (error) {
      pipeline.close()
      throw error
    }
  }

  /** Applies all steps to the items. Rejects only when a remote process failed or ended. */
  async apply(items: readonly PipelineItem[], policy: ErrorPolicy): Promise<void> {
    for (const segment of this.#segments) {
      const passing = items.filter(({ outcome }) => outcome === 'passing')
      if (passing.length === 0) return
      if (segment.where === 'local') await applyLocally(segment, passing, policy)
      else await applyRemotely(segment, passing, policy)
    }
  }

  close(): void {
    for (const segment of this.#segments) if (segment.where === 'remote') segment.chain.close()
  }
}

async function applyLocally(
  { steps }: LocalSegment,
  items: readonly PipelineItem[],
  policy: ErrorPolicy,
): Promise<void> {
  for (const item of items) {
    for (const step of steps) {
      if (item.outcome !== 'passing') break
      const { apply } = step.runs
      try {
        const applying = apply(item)
        if (applying instanceof Promise) await applying
      } catch (failed) {
        await policy
          .retry(failed, () => apply(item))
          .catch((error: unknown) => {
            item.outcome = stepFailure(step, error)
          })
      }
    }
  }
}

async function applyRemotely(
  { steps, chain }: RemoteSegment & { readonly chain: RemoteChain },
  items: readonly PipelineItem[],
  policy: ErrorPolicy,
): Promise<void> {
  const { outcomes, retries } = await chain.apply(items)
  policy.countRetries(retries)
  for (const [index, outcome] of outcomes.entries()) {
    const item = items[index]
    if (item === undefined || outcome === 'passed') continue
    item.outcome = outcome === 'dropped' ? 'dropped' : stepFailure(steps[outcome.step]!, outcome.failed)
  }
}

export function isFailure(outcome: PipelineItem['outcome']): outcome is StepFailure {
  return typeof outcome === 'object'
}
