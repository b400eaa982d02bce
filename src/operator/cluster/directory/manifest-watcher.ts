import { type FSWatcher, watch } from 'node:fs'
import type { Clock } from '../../../common/clock.ts'
import type { Logger } from '../../../common/logging/logger.ts'

export type ManifestWatcherOptions = {
  /** The folder of manifests. */
  readonly path: string
  readonly clock: Clock
  readonly logger: Logger
  /** How often the folder is scanned in addition to file system events. */
  readonly rescanMs?: number
}

const RESCAN_MS = 1_000
/** Editors write a file in several operations: the folder is read when it has been quiet for this long. */
const QUIET_MS = 50

/** Calls `read` at the start, after changes in a folder of manifests, and periodically. */
export class ManifestWatcher {
  readonly #options: ManifestWatcherOptions
  readonly #readFolder: () => Promise<void>
  readonly #stopping = new AbortController()
  #watcher: FSWatcher | undefined
  #reading: Promise<void> = Promise.resolve()
  #debounce: AbortController | undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(options: ManifestWatcherOptions, read: () => Promise<void>) {
    this.#options = options
    this.#readFolder = read
  }

  /** Resolves after the first read. */
  async start(): Promise<void> {
    await this.#read()
    this.#watch()
    this.#loop = this.#rescan()
  }

  /** Resolves when the last read has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#debounce?.abort()
    this.#watcher?.close()
    await this.#loop
    await this.#reading
  }

  #watch(): void {
    const { path, logger } = this.#options
    try {
      this.#watcher = watch(path, { recursive: true }, () => this.#readSoon())
      this.#watcher.on('error', (error) => logger.debug({ err: error }, 'watching the folder failed'))
    } catch (error) {
      // Too many watches on this machine, or a file system without events: the periodic scan finds the changes later.
      logger.debug({ err: error }, 'cannot watch the folder: relying on the periodic scan')
    }
  }

  async #rescan(): Promise<void> {
    const { clock, rescanMs = RESCAN_MS } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await clock.sleep(rescanMs, signal).catch(() => undefined)
      if (!signal.aborted) await this.#read()
    }
  }

  #readSoon(): void {
    this.#debounce?.abort()
    this.#debounce = new AbortController()
    this.#options.clock.sleep(QUIET_MS, this.#debounce.signal).then(
      () => this.#read(),
      () => undefined,
    )
  }

  /** Reads the folder once at a time, so that an older read never replaces a newer one. */
  #read(): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      if (!this.#stopping.signal.aborted) await this.#readFolder()
    })
    return this.#reading
  }
}
