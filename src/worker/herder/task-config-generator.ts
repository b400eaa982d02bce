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
  /** Stores the tasks of a connector, here or through the leader. */
  readonly putTasks: (connector: string, tasks: readonly RawConfig[]) => Promise<void>
}

/** What needs the leader goes on until it succeeds: it may be away, or be another worker by then. */
export const RETRY_UNTIL_DONE = {
  backoff: { firstMs: 250, maxMs: 60_000 },
  withinMs: Number.POSITIVE_INFINITY,
  retriable: () => true,
}

/** Brings the stored tasks to what connectors make of their configurations. */
export class TaskConfigGenerator {
  readonly #parts: TaskConfigGeneratorOptions
  /** The last one of each connector that goes on: they follow each other, or the older could be stored last. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(parts: TaskConfigGeneratorOptions) {
    this.#parts = parts
  }

  /** Makes the tasks, and makes them anew as often as the connector asks for. Rejects when it can't the first time. */
  async run(connector: string, plugin: ConnectorPlugin, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#parts
    let againMs = await this.#make(connector, plugin, signal)
    while (againMs !== null && !signal.aborted) {
      await clock.sleep(againMs, signal).catch(() => undefined)
      const waitedMs = againMs
      againMs = await this.#make(connector, plugin, signal).catch((error: unknown) => {
        logger.warn({ err: error, connector, waitMs: waitedMs }, 'tasks could not be made anew: trying again')
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

  /** When to do it again; null: not at all. */
  async #makeNow(name: string, plugin: ConnectorPlugin, signal: AbortSignal): Promise<number | null> {
    const { plugins, configs, resolver, putTasks, clock, logger } = this.#parts
    const connector = configs.state.connector(name)
    if (signal.aborted || !connector) return null
    const { config } = connector
    const resolved = await resolver.resolve(config, { connector: name })
    const { configs: own, againMs } = await generateTaskConfigs(plugins, plugin, resolved.config)
    const now = configs.state.connector(name)
    // The plugin may have taken long: what it made of an older configuration is of no use.
    if (signal.aborted || now?.config !== config) return null
    const { tasks, appliedConfig } = now
    const made = own.map((task) => toStoredTaskConfig(task, config, resolved, secretKeysOf(config, plugins.catalog)))
    const isSame = made.length === tasks.length && made.every((task, index) => sameConfig(task, tasks[index]))
    if (isSame && appliedConfig !== undefined && sameConfig(config, appliedConfig)) return againMs
    const unknown = findUnknownKeys(plugin, config)
    if (unknown.length > 0) logger.warn({ connector: name, keys: unknown }, 'keys of the configuration are not known')
    const onRetry = (error: unknown, _: number, waitMs: number) =>
      logger.warn({ err: error, connector: name, waitMs }, 'tasks could not be stored: trying again')
    await retry(() => putTasks(name, made), { ...RETRY_UNTIL_DONE, clock, signal, onRetry })
    return againMs
  }
}
