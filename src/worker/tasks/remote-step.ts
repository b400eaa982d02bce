import type { ChainResults } from '../../java/record-chain.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ErrorConfig } from '../configuration/task-config.ts'
import type { ErrorPolicy } from './error-policy.ts'
import { type PipelineItem, type PipelineStep, type StepRole, stepFailure } from './pipeline-step.ts'

/** A plugin that runs in another process: one of Java. */
export type RemotePlugin = {
  readonly role: StepRole
  /** The class name that is reported for a failure. For a predicate it is that of its transformation. */
  readonly className: string
  /** Whether a transformation is applied only to records that the predicate before it has selected. */
  readonly isConditional: boolean
  /** Whether a predicate selects the records that it does not match. */
  readonly isNegated: boolean
  readonly location: string
  readonly class: string
  readonly version: string
  readonly config: RawConfig
}

/** Consecutive remote plugins that have been opened. */
export type RemoteChain = {
  /**
   * Applies the plugins to each item, and changes the items that pass. A plugin that fails with a retriable error is retried
   * there. Resolves to an outcome for each item and to the number of retries.
   */
  apply(items: readonly PipelineItem[]): Promise<ChainResults>
  close(): void
}

/** Opens the remote plugins of a task. */
export type RemotePlugins = {
  /** Whether plugins of this location run in another process. */
  isRemote(location: string | undefined): location is string
  open(options: RemoteChainOptions): Promise<RemoteChain>
}

export type RemoteChainOptions = {
  /** The location whose process runs the plugins, which may come from others. */
  readonly host: string
  /** Name of the task for log lines. */
  readonly name: string
  readonly isSink: boolean
  /** Whether the plugins are next to a connector that runs in the same process. */
  readonly isBesideConnector: boolean
  readonly plugins: readonly RemotePlugin[]
  readonly errors: ErrorConfig
  /** Aborts when the task has to stop: nothing is retried any more. */
  readonly signal: AbortSignal
}

/** Consecutive remote plugins as a step: a batch crosses to the other process once in each direction. */
export class RemoteStep implements PipelineStep {
  readonly #plugins: readonly RemotePlugin[]
  readonly #chain: RemoteChain

  constructor(plugins: readonly RemotePlugin[], chain: RemoteChain) {
    this.#plugins = plugins
    this.#chain = chain
  }

  async apply(items: readonly PipelineItem[], policy: ErrorPolicy): Promise<readonly PipelineItem[]> {
    const { outcomes, retries } = await this.#chain.apply(items)
    policy.countRetries(retries)
    const passing: PipelineItem[] = []
    for (const [index, item] of items.entries()) {
      const outcome = outcomes[index]!
      if (outcome === 'passed') passing.push(item)
      if (typeof outcome !== 'object') continue
      item.failure = stepFailure(this.#plugins[outcome.step]!, outcome.failed)
      if (!policy.isTolerant) break
    }
    return passing
  }

  close(): void {
    this.#chain.close()
  }
}
