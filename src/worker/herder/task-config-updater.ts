import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { retry } from '../../common/retry.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import { secretKeysOf } from '../configuration/connector-secret-keys.ts'
import type { ConnectorRun, PluginHost } from '../plugin-host.ts'
import { ConnectorRaisedError } from '../plugin-host.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import { findUnknownKeys } from '../validation/unknown-keys.ts'
import { generateTaskConfigs } from './generate-task-configs.ts'
import { toStoredTaskConfig } from './stored-task-config.ts'

type TaskConfigUpdaterOptions = {
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

/** Stores the task configurations that connectors generate, when they differ from the stored ones. */
export class TaskConfigUpdater {
  readonly #options: TaskConfigUpdaterOptions
  /**
   * The last pending generation of each connector. Generations run in order, so that an older one is never stored last.
   */
  readonly #pending = new Map<string, Promise<unknown>>()
  #runs: ConnectorRun = 0

  constructor(options: TaskConfigUpdaterOptions) {
    this.#options = options
  }

  /**
   * Generates now, and then at the interval that the connector requests. Rejects when the first generation fails, or
   * when the connector reports that it has failed.
   */
  async run(connector: string, plugin: ConnectorPlugin, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options
    const run = ++this.#runs
    let againMs = await this.#generate(connector, plugin, run, signal)
    while (againMs !== null && !signal.aborted) {
      await clock.sleep(againMs, signal).catch(() => undefined)
      const waitedMs = againMs
      againMs = await this.#generate(connector, plugin, run, signal).catch((error: unknown) => {
        if (error instanceof ConnectorRaisedError) throw error
        logger.warn(
          { err: error, connector, waitMs: waitedMs },
          'task configurations could not be regenerated; retrying',
        )
        return waitedMs
      })
    }
  }

  #generate(
    connector: string,
    plugin: ConnectorPlugin,
    run: ConnectorRun,
    signal: AbortSignal,
  ): Promise<number | null> {
    const earlier = this.#pending.get(connector) ?? Promise.resolve()
    const generation = earlier.then(() => this.#generateNow(connector, plugin, run, signal))
    const settled = generation
      .catch(() => undefined)
      .finally(() => {
        if (this.#pending.get(connector) === settled) this.#pending.delete(connector)
      })
    this.#pending.set(connector, settled)
    return generation
  }

  /** Returns the time until the next generation in ms; null if there is none. */
  async #generateNow(
    name: string,
    plugin: ConnectorPlugin,
    run: ConnectorRun,
    signal: AbortSignal,
  ): Promise<number | null> {
    const { plugins, configs, resolver, putTasks, clock, logger } = this.#options
    const connector = configs.state.connector(name)
    if (signal.aborted || !connector) return null
    const { config } = connector
    const resolved = await resolver.resolve(config, { connector: name })
    const { configs: generated, againMs } = await generateTaskConfigs(plugins, plugin, resolved.config, run)
    const current = configs.state.connector(name)
    // The configuration may have changed while the plugin worked; the result is then obsolete.
    if (signal.aborted || current?.config !== config) return null
    const { tasks, appliedConfig } = current
    const stored = generated.map((task) =>
      toStoredTaskConfig(task, config, resolved, secretKeysOf(config, plugins.catalog)),
    )
    const isUnchanged = stored.length === tasks.length && stored.every((task, index) => sameConfig(task, tasks[index]))
    if (isUnchanged && appliedConfig !== undefined && sameConfig(config, appliedConfig)) return againMs
    const unknown = findUnknownKeys(plugin, config)
    if (unknown.length > 0)
      logger.warn({ connector: name, keys: unknown }, 'the configuration has unknown keys, which have no effect')
    const onRetry = (error: unknown, _: number, waitMs: number) =>
      logger.warn({ err: error, connector: name, waitMs }, 'task configurations could not be stored; retrying')
    await retry(() => putTasks(name, stored), { ...RETRY_UNTIL_DONE, clock, signal, onRetry })
    return againMs
  }
}

function sameConfig(a: RawConfig, b: RawConfig | undefined): boolean {
  if (b === undefined) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}
