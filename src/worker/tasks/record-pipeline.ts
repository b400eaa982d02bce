import { setImmediate as nextTurn } from 'node:timers/promises'
import type { PluginOrigin } from '../../plugins/plugin-catalog.ts'
import { parseTaskConfig } from '../configuration/task-config.ts'
import { taskKey } from '../model/task-key.ts'
import type { ErrorPolicy } from './error-policy.ts'
import { type ConfiguredPlugin, pipelinePlugins, taskPlugins } from './pipeline-plugins.ts'
import type { PipelineItem, PipelineStep, StepFailure } from './pipeline-step.ts'
import { PluginStep } from './plugin-step.ts'
import { RemoteStep } from './remote-step.ts'
import { joinRemotePlugins, StepFactory } from './step-factory.ts'
import type { WorkerTaskContext } from './task-context.ts'
import type { PipelineSpec } from './task-spec.ts'

export type PipelineContext = Pick<WorkerTaskContext, 'plugins' | 'access' | 'remote' | 'signal'> & {
  readonly spec: PipelineSpec
}

/** After this many records, the event loop runs other work, such as a `put` of the previous records. */
const RECORDS_PER_TURN = 500

/** What enters a pipeline, and what leaves it in the order of the records. */
export type PipelineBatch<Source, Item> = {
  readonly toItem: (record: Source) => Item
  readonly onPassed: (item: Item) => void
  /** Throws when the record may not be skipped. */
  readonly onFailed: (item: Item, failure: StepFailure) => void
}

/** The converters and transformations of one task, which each record passes between the connector and its topics. */
export class RecordPipeline {
  readonly #steps: readonly PipelineStep[]

  constructor(steps: readonly PipelineStep[]) {
    this.#steps = steps
  }

  /**
   * Creates the plugins of a task, and opens those of other processes. Rejects with a `ConfigError` for invalid settings, with a
   * `UserError` for an unknown plugin, and when a remote plugin cannot be created.
   */
  static async open({ spec, plugins: catalog, access, remote, signal }: PipelineContext): Promise<RecordPipeline> {
    const { kind, config } = spec
    const workerDefaults = spec.worker.converters
    const plugins = pipelinePlugins(config, workerDefaults)
    const locate = (named: ConfiguredPlugin) => {
      const plugin = catalog.find(named.kind, named.className, named.version) as PluginOrigin | undefined
      return remote?.isRemote(plugin?.location) ? plugin?.location : undefined
    }
    const [connector, ...others] = taskPlugins(kind, config, workerDefaults).map(locate)
    const host = [connector, ...others].find((location) => location !== undefined)
    const factory = new StepFactory({ kind, catalog, access, remote, host })
    const joined = joinRemotePlugins(factory.create(plugins))
    const besideConnector = connector === undefined ? undefined : joined.at(kind === 'source' ? 0 : -1)
    const steps: PipelineStep[] = []
    const pipeline = new RecordPipeline(steps)
    try {
      for (const step of joined) {
        if (step instanceof PluginStep) {
          steps.push(step)
          continue
        }
        const chain = await remote!.open({
          host: host!,
          name: taskKey(spec),
          isSink: kind === 'sink',
          isBesideConnector: step === besideConnector,
          plugins: step,
          errors: parseTaskConfig(config).errors,
          signal,
        })
        steps.push(new RemoteStep(step, chain))
      }
      return pipeline
    } catch (error) {
      pipeline.close()
      throw error
    }
  }

  /** Applies all steps to the items of a batch. */
  async apply<Source, Item extends PipelineItem>(
    records: readonly Source[],
    policy: ErrorPolicy,
    { toItem, onPassed, onFailed }: PipelineBatch<Source, Item>,
  ): Promise<void> {
    for (let from = 0; from < records.length; from += RECORDS_PER_TURN) {
      if (from > 0) await nextTurn()
      const items = records.slice(from, from + RECORDS_PER_TURN).map(toItem)
      const passing = await this.#applySteps(items, policy)
      let next = 0
      for (const item of items) {
        if (item.failure !== undefined) onFailed(item, item.failure)
        else if (item === passing[next]) {
          next += 1
          onPassed(item)
        }
      }
    }
  }

  async #applySteps(items: readonly PipelineItem[], policy: ErrorPolicy): Promise<readonly PipelineItem[]> {
    let passing = items
    for (const step of this.#steps) if (passing.length > 0) passing = await step.apply(passing, policy)
    return passing
  }

  close(): void {
    for (const step of this.#steps) step.close?.()
  }
}
