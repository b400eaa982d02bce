import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Logger } from '../config/logger.ts'

/** Lines that wait for a file that can't be written; more are dropped. */
const WAITING_MAX = 10_000
const RETRY_MS = 1_000

export type AuditLogFileOptions = {
  readonly path: string
  readonly logger: Logger
  /** Called for each line that is given up. */
  readonly dropped: () => void
}

/**
 * Appends lines to a file, in order and in the background. A file that was renamed or removed, as by logrotate, is made anew.
 * Lines that can't be written wait, and are tried again every second.
 */
export class AuditLogFile {
  readonly #options: AuditLogFileOptions
  readonly #waiting: string[] = []
  #handle: FileHandle | undefined
  #writing: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #isFailing = false

  private constructor(options: AuditLogFileOptions) {
    this.#options = options
  }

  /** Rejects when the file can't be written now. */
  static async open(options: AuditLogFileOptions): Promise<AuditLogFile> {
    const file = new AuditLogFile(options)
    await file.#current()
    return file
  }

  /** Whether the last attempt to write failed. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  add(line: string): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(`${line}\n`)
    else this.#options.dropped()
    if (!this.#isFailing) this.#write()
  }

  /** Writes what waits, if it can be written. */
  async close(): Promise<void> {
    clearTimeout(this.#retry)
    this.#write()
    await this.#writing
    clearTimeout(this.#retry)
    for (const _ of this.#waiting) this.#options.dropped()
    await this.#handle?.close()
  }

  #write(): void {
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined
    })
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const lines = [...this.#waiting]
        const handle = await this.#current()
        // After a failure a part of a line may stand there: it must not run into the next one.
        await handle.appendFile(`${this.#isFailing ? '\n' : ''}${lines.join('')}`)
        this.#waiting.splice(0, lines.length)
        if (this.#isFailing) this.#options.logger.info({ file: this.#options.path }, 'the audit log is written again')
        this.#isFailing = false
      }
    } catch (error) {
      const { path, logger } = this.#options
      if (!this.#isFailing) logger.error({ err: error, file: path }, 'the audit log can not be written')
      this.#isFailing = true
      this.#retry = setTimeout(() => this.#write(), RETRY_MS).unref()
    }
  }

  async #current(): Promise<FileHandle> {
    const { path } = this.#options
    if (this.#handle) {
      const [own, there] = await Promise.all([this.#handle.stat(), stat(path).catch(() => undefined)])
      if (there?.ino === own.ino && there.dev === own.dev) return this.#handle
      await this.#handle.close()
      this.#handle = undefined
    }
    this.#handle = await open(path, 'a', 0o640)
    return this.#handle
  }
}
