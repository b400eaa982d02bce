import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../common/clock.ts'
import type { Logger } from '../common/logging/logger.ts'
import { PeriodicTask } from '../common/periodic-task.ts'
import type { RuntimesConfig } from './runtimes.ts'

export type ConfigurationWatchOptions = {
  /** Reads the configuration and the secret files that it names. Throws when it cannot be read. */
  readonly read: () => RuntimesConfig
  readonly clock: Clock
  readonly logger: Logger
}

export type ConfigurationHandlers = {
  readonly onChange: (runtimesConfig: RuntimesConfig) => void
  /** Called after every poll, whether the configuration changed or not. */
  readonly onPoll?: (runtimesConfig: RuntimesConfig) => void
}

const POLL_INTERVAL_MS = 10_000

/** Polls the configuration of the runtimes. While it cannot be read, the last one that was valid stays in force. */
export class ConfigurationWatch {
  /** Whether the last poll could read the configuration. */
  isValid = true
  #current: RuntimesConfig
  readonly #options: ConfigurationWatchOptions
  readonly #polling: PeriodicTask

  /** Throws when the configuration cannot be read. */
  constructor(options: ConfigurationWatchOptions) {
    this.#options = options
    this.#polling = new PeriodicTask(options.clock)
    this.#current = options.read()
  }

  get current(): RuntimesConfig {
    return this.#current
  }

  start({ onChange, onPoll }: ConfigurationHandlers): void {
    this.#polling.start(() => {
      if (this.#hasChanged()) onChange(this.#current)
      onPoll?.(this.#current)
      return POLL_INTERVAL_MS
    }, POLL_INTERVAL_MS)
  }

  stop(): Promise<void> {
    return this.#polling.stop()
  }

  #hasChanged(): boolean {
    const { read, logger } = this.#options
    try {
      const runtimesConfig = read()
      this.isValid = true
      if (isDeepStrictEqual(runtimesConfig, this.#current)) return false
      logger.info('the configuration of workers and registries has changed')
      this.#current = runtimesConfig
      return true
    } catch (error) {
      if (this.isValid) logger.error({ err: error }, 'cannot read the configuration: the previous one stays in force')
      this.isValid = false
      return false
    }
  }
}
