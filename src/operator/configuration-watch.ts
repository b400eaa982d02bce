import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import { PeriodicTask } from '../config/periodic.ts'
import type { RuntimesConfig } from './runtimes.ts'

export type ConfigurationWatchOptions = {
  /** Reads it anew, with the files of secrets that it names. Throws when it can't be read. */
  readonly read: () => RuntimesConfig
  readonly clock: Clock
  readonly logger: Logger
  readonly onChange: (runtimesConfig: RuntimesConfig) => void
  /** After each look, whether anything changed or not: for what could not be had for it before. */
  readonly onPoll?: (runtimesConfig: RuntimesConfig) => void
}

const READ_MS = 10_000

/** Follows what the operator's configuration says of runtimes. What can't be read changes nothing. */
export class ConfigurationWatch {
  /** Whether what stands there now could be read. */
  isValid = true
  #current: RuntimesConfig
  readonly #options: ConfigurationWatchOptions
  readonly #rounds: PeriodicTask

  /** Throws when it can't be read at the start. */
  constructor(options: ConfigurationWatchOptions) {
    this.#options = options
    this.#rounds = new PeriodicTask(options.clock)
    this.#current = options.read()
  }

  get current(): RuntimesConfig {
    return this.#current
  }

  start(): void {
    this.#rounds.start(() => {
      this.#look()
      this.#options.onPoll?.(this.#current)
      return READ_MS
    }, READ_MS)
  }

  stop(): Promise<void> {
    return this.#rounds.stop()
  }

  #look(): void {
    const { read, logger, onChange } = this.#options
    try {
      const runtimesConfig = read()
      this.isValid = true
      if (isDeepStrictEqual(runtimesConfig, this.#current)) return
      logger.info('the configuration of workers and registries has changed')
      this.#current = runtimesConfig
      onChange(runtimesConfig)
    } catch (error) {
      if (this.isValid)
        logger.error({ err: error }, 'the configuration can not be read: what it said before stays in force')
      this.isValid = false
    }
  }
}
