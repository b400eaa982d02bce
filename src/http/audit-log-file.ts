import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Logger } from '../common/logging/logger.ts'

/** Maximum number of buffered lines while the file cannot be written; further lines are dropped. */
const WAITING_MAX = 10_000
const RETRY_MS = 1_000
/** Lines that arrive within this time are written together, because a write for each line takes longer than its request. */
const BATCH_MS = 20

export type AuditLogFileOptions = {
  readonly path: string
  readonly logger: Logger
  /** Called for each dropped line. */
  readonly onDropped: () => void
}

/**
 * Appends lines to a file in order and asynchronously. A file that was renamed or removed, for example by logrotate, is
 * recreated. Lines that cannot be written are buffered and retried every second.
 */
export class AuditLogFile {
  readonly #options: AuditLogFileOptions
  readonly #waiting: string[] = []
  #handle: FileHandle | undefined
  #writing: Promise<void> | undefined
  /** Starts the next write. Undefined during a write. */
  #timer: NodeJS.Timeout | undefined
  #isFailing = false

  private constructor(options: AuditLogFileOptions) {
    this.#options = options
  }

  /** Rejects if the file cannot be written now. */
  static async open(options: AuditLogFileOptions): Promise<AuditLogFile> {
    const file = new AuditLogFile(options)
    await file.#current()
    return file
  }

  /** Whether the last write failed. */
  get isFailing(): boolean {
    return this.#isFailing
  }

  add(line: string): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(`${line}\n`)
    else this.#options.onDropped()
    this.#schedule()
  }

  /** Writes the buffered lines if possible. */
  async close(): Promise<void> {
    await this.#writing
    this.#write()
    await this.#writing
    clearTimeout(this.#timer)
    for (const _ of this.#waiting) this.#options.onDropped()
    await this.#handle?.close()
  }

  #schedule(): void {
    if (this.#writing !== undefined) return
    this.#timer ??= setTimeout(() => this.#write(), this.#isFailing ? RETRY_MS : BATCH_MS).unref()
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#append([...this.#waiting]).finally(() => {
      this.#writing = undefined
      if (this.#waiting.length > 0) this.#schedule()
    })
  }

  async #append(lines: readonly string[]): Promise<void> {
    const { path, logger } = this.#options
    try {
      const handle = await this.#current()
      // A failed write may have left a partial line, which must not run into the next one.
      await handle.appendFile(`${this.#isFailing ? '\n' : ''}${lines.join('')}`)
      this.#waiting.splice(0, lines.length)
      if (this.#isFailing) logger.info({ file: path }, 'the audit log is writable again')
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) logger.error({ err: error, file: path }, 'cannot write the audit log')
      this.#isFailing = true
    }
  }

  async #current(): Promise<FileHandle> {
    const { path } = this.#options
    if (this.#handle) {
      const [own, atPath] = await Promise.all([this.#handle.stat(), stat(path).catch(() => undefined)])
      if (atPath?.ino === own.ino && atPath.dev === own.dev) return this.#handle
      await this.#handle.close()
      this.#handle = undefined
    }
    this.#handle = await open(path, 'a', 0o640)
    return this.#handle
  }
}
