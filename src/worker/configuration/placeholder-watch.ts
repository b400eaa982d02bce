import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { ConfigResolver } from './config-resolver.ts'

export type PlaceholderWatchOptions = {
  readonly resolver: ConfigResolver
  readonly clock: Clock
  readonly logger: Logger
  readonly intervalMs: number
  /** Connectors that run on this worker, or have tasks here. */
  readonly connectors: () => readonly string[]
  readonly configOf: (connector: string) => RawConfig | undefined
  readonly restart: (connector: string) => void
}

/**
 * Restarts connectors whose placeholders resolve to new values, except with `config.action.reload=none`. Checks every
 * `intervalMs`; resolves when `signal` aborts.
 */
export async function watchPlaceholders(parts: PlaceholderWatchOptions, signal: AbortSignal): Promise<void> {
  const { resolver, clock, logger, intervalMs, connectors, configOf, restart } = parts
  const isLeftAlone = (name: string) =>
    trimAsJava(configOf(name)?.['config.action.reload'] ?? '').toLowerCase() === 'none'
  for (;;) {
    await clock.sleep(intervalMs, signal).catch(() => undefined)
    if (signal.aborted) return
    const followed = connectors().filter((name) => !isLeftAlone(name))
    const onUnreadable = (error: unknown) =>
      logger.warn({ err: error }, 'placeholders could not be checked for new values; retrying at the next interval')
    for (const connector of await resolver.connectorsWithChangedValues(followed, onUnreadable)) {
      logger.info({ connector }, 'values of placeholders have changed; restarting the connector')
      restart(connector)
    }
  }
}
