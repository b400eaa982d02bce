import type { Clock } from '../../config/clock.ts'
import type { Logger } from '../../config/logger.ts'
import { retry } from '../../config/retry.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import { secretKeysOf } from '../configuration/secret-keys.ts'
import type { PluginHost } from '../plugin-host.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import { findUnknownKeys } from '../validation/unknown-keys.ts'
import { toStoredTaskConfig } from './stored-task-config.ts'
import { generateTaskConfigs, sameConfig } from './task-configs.ts'

type TaskConfigGeneratorOptions = {
  readonly plugins: PluginHost
  readonly configs: ConfigStore
  readonly resolver: ConfigResolver
  readonly clock: Clock
  readonly logger: Logger
  /** Stores the task configurations of a connector, directly or through the leader. */
  readonly putTasks: (connector: string, tasks: readonly RawConfig[]) => Promise<void>
}

/**
 * Requests to the leader are retried until they succeed: it may be unavailable, or another worker may become the
 * leader.
 */
export const RETRY_UNTIL_DONE = {
  backoff: { firstMs: 250, maxMs: 60_000 },
  withinMs: Number.POSITIVE_INFINITY,
  retriable: () => true,
}

/** Generates task configurations from those of the connectors and stores them when they changed. */
export class TaskConfigGenerator {
  readonly #parts: TaskConfigGeneratorOptions
  /**
   * The last pending generation of each connector. Generations run in order, so that an older one is never stored last.
   */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(parts: TaskConfigGeneratorOptions) {
    this.#parts = parts
  }

  /** Generates now, and then at the interval that the connector requests. Rejects when the first generation fails. */
  async run(connector: string, plugin: ConnectorPlugin, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts
    let againMs = await this.#make(connector, plugin, signal)
    while (againMs !== null && !signal.aborted) {
      await clock.sleep(againMs, signal).catch(() => undefined)
      const waitedMs = againMs
      againMs = await this.#make(connector, plugin, signal).catch((error: unknown) => {
        logger.warn(
          { err: error, connector, waitMs: waitedMs },
          'task configurations could not be generated again: retrying',
        )
        return waitedMs
      })
    }
  }

  #make(connector: string, plugin: ConnectorPlugin, signal: AbortSignal): Promise<number | null> {
    const earlier = this.#last.get(connector) ?? Promise.resolve()
    const made = earlier.then(() => this.#makeNow(connector, plugin, signal))
    const settled = made
      .catch(() => undefined)
      .finally(() => {
        if (this.#last.get(connector) === settled) this.#last.delete(connector)
      })
    this.#last.set(connector, settled)
    return made
  }

  /** Returns the time until the next generation in ms; null if there is none. */
  async #makeNow(name: string, plugin: ConnectorPlugin, signal: AbortSignal): Promise<number | null> {
    const { plugins, configs, resolver, putTasks, clock, logger } = this.#parts
    const connector = configs.state.connector(name)
    if (signal.aborted || !connector) return null
    const { config } = connector
    const resolved = await resolver.resolve(config, { connector: name })
    const { configs: own, againMs } = await generateTaskConfigs(plugins, plugin, resolved.config)
    const now = configs.state.connector(name)
    // The configuration may have changed while the plugin worked; the result is then obsolete.
    if (signal.aborted || now?.config !== config) return null
    const { tasks, appliedConfig } = now
    const made = own.map((task) => toStoredTaskConfig(task, config, resolved, secretKeysOf(config, plugins.catalog)))
    const isSame = made.length === tasks.length && made.every((task, index) => sameConfig(task, tasks[index]))
    if (isSame && appliedConfig !== undefined && sameConfig(config, appliedConfig)) return againMs
    const unknown = findUnknownKeys(plugin, config)
    if (unknown.length > 0)
      logger.warn({ connector: name, keys: unknown }, 'the configuration has keys that no plugin reads')
    const onRetry = (error: unknown, _: number, waitMs: number) =>
      logger.warn({ err: error, connector: name, waitMs }, 'task configurations could not be stored: retrying')
    await retry(() => putTasks(name, made), { ...RETRY_UNTIL_DONE, clock, signal, onRetry })
    return againMs
  }
}
