import { noTasksTrace } from '../../clients/worker-client.ts'
import type { Clock } from '../../common/clock.ts'
import { messageOf } from '../../common/errors.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { retry } from '../../common/retry.ts'
import { withTimeout } from '../../common/timeout.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import { secretKeysOf } from '../configuration/connector-secret-keys.ts'
import type { ConnectorRun, PluginHost } from '../plugin-host.ts'
import { ConnectorRaisedError } from '../plugin-host.ts'
import { sameConfig, sameTasks } from '../stores/config-state.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import { findUnknownKeys, findUnknownStepKeys } from '../validation/unknown-keys.ts'
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

/** What a generation of task configurations belongs to. */
type Generation = {
  /** Aborts when the connector is stopped, or its configuration has changed. */
  readonly signal: AbortSignal
  /** Called with the reason why the connector has no tasks, or not the right ones, and with null when it has. */
  readonly onWaiting: (reason: string | null) => void
}

/** After this time, in ms, the status of a connector says that its tasks are still being generated. */
const SLOW_GENERATION_MS = 10_000

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
  async run(connector: string, plugin: ConnectorPlugin, generation: Generation): Promise<void> {
    const { clock, logger } = this.#options
    const { signal } = generation
    const run = ++this.#runs
    let waitsFor: string | null = null
    const own: Generation = {
      signal,
      onWaiting(reason) {
        if (reason !== waitsFor) generation.onWaiting(reason)
        waitsFor = reason
      },
    }
    const first = this.#generate(connector, plugin, run, own)
    const isLate = await withTimeout(
      first.then(() => false),
      SLOW_GENERATION_MS,
      () => true,
      clock,
    )
    if (isLate) {
      own.onWaiting(
        `the tasks are not generated yet: ${plugin.class} has not returned for ${SLOW_GENERATION_MS / 1_000} s`,
      )
    }
    let againMs = await first
    while (againMs !== null && !signal.aborted) {
      await clock.sleep(againMs, signal).catch(() => undefined)
      const waitedMs = againMs
      againMs = await this.#generate(connector, plugin, run, own).catch((error: unknown) => {
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
    generation: Generation,
  ): Promise<number | null> {
    const earlier = this.#pending.get(connector) ?? Promise.resolve()
    const generating = earlier.then(() => this.#generateNow(connector, plugin, run, generation))
    const settled = generating
      .catch(() => undefined)
      .finally(() => {
        if (this.#pending.get(connector) === settled) this.#pending.delete(connector)
      })
    this.#pending.set(connector, settled)
    return generating
  }

  /** Returns the time until the next generation in ms; null if there is none. */
  async #generateNow(
    name: string,
    plugin: ConnectorPlugin,
    run: ConnectorRun,
    { signal, onWaiting }: Generation,
  ): Promise<number | null> {
    const { plugins, configs, resolver, putTasks, clock, logger } = this.#options
    const connector = configs.state.connector(name)
    if (signal.aborted || !connector) return null
    const { config } = connector
    const resolved = await resolver.resolve(config, { connector: name }, signal)
    const { configs: generated, againMs } = await generateTaskConfigs(plugins, plugin, resolved.config, run, signal)
    const current = configs.state.connector(name)
    // The configuration may have changed while the plugin worked; the result is then obsolete.
    if (signal.aborted || current?.config !== config) return null
    const { tasks, appliedConfig } = current
    const stored = generated.map((task) =>
      toStoredTaskConfig(task, config, resolved, secretKeysOf(config, plugins.catalog)),
    )
    const none = stored.length === 0 ? noTasksTrace(plugin.class) : null
    if (sameTasks(stored, tasks) && appliedConfig !== undefined && sameConfig(config, appliedConfig)) {
      onWaiting(none)
      return againMs
    }
    const unknown = [...findUnknownKeys(plugin, config), ...findUnknownStepKeys(plugins.catalog, config)]
    if (unknown.length > 0)
      logger.warn({ connector: name, keys: unknown }, 'the configuration has unknown keys, which have no effect')
    const seen = new ErrorDeduplicator()
    const onRetry = (error: unknown) => {
      if (!seen.isRepeated(error))
        logger.warn(
          { err: error, connector: name },
          'task configurations could not be stored, which is retried until it succeeds',
        )
      onWaiting(`the tasks could not be stored, which is retried: ${messageOf(error)}`)
    }
    await retry(() => putTasks(name, stored), { ...RETRY_UNTIL_DONE, clock, signal, onRetry })
    onWaiting(none)
    return againMs
  }
}
