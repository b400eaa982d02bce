import type { SourceRecord } from '../../../sdk/index.ts'
import { type InputDirectory, type InputFile, isSameVersion } from './input-directory.ts'

type Reading = {
  readonly file: InputFile
  /** Number of batches that are not written to the topic yet. */
  waiting: number
  /** How reading ended; undefined while it is in progress. */
  end: 'finished' | 'failed' | undefined
}

/**
 * Tracks the files that are being read. A file is complete when it was read to its end and all batches were written to
 * the topic.
 */
export class FileTracker {
  readonly #inbox: InputDirectory
  readonly #files = new Map<string, Reading>()
  readonly #batches = new Map<readonly SourceRecord[], Reading>()
  /** Files that were read and remain in the directory (`finished.policy=keep`). */
  readonly #kept = new Map<string, InputFile>()

  constructor(inbox: InputDirectory) {
    this.#inbox = inbox
  }

  /** Whether files are still being read or written to the topic. */
  get isBusy(): boolean {
    return this.#files.size > 0
  }

  /**
   * Returns the listed files that have not been read and are not being read. Forgets kept files that no longer exist.
   */
  unread(listed: readonly InputFile[]): readonly InputFile[] {
    const names = new Set(listed.map(({ name }) => name))
    for (const name of this.#kept.keys()) if (!names.has(name)) this.#kept.delete(name)
    return listed.filter((file) => !this.#files.has(file.name) && !this.#isKept(file))
  }

  #isKept(file: InputFile): boolean {
    const kept = this.#kept.get(file.name)
    return kept !== undefined && isSameVersion(kept, file)
  }

  begin(file: InputFile): void {
    this.#files.set(file.name, { file, waiting: 0, end: undefined })
  }

  /** Records that a batch of this file was handed over to the worker. */
  given({ name }: InputFile, batch: readonly SourceRecord[]): void {
    const reading = this.#files.get(name)
    if (reading === undefined || batch.length === 0) return
    reading.waiting += 1
    this.#batches.set(batch, reading)
  }

  stored(batch: readonly SourceRecord[]): void {
    const reading = this.#batches.get(batch)
    if (reading !== undefined) reading.waiting -= 1
    this.#batches.delete(batch)
  }

  read({ name }: InputFile, end: 'finished' | 'failed'): void {
    const reading = this.#files.get(name)
    if (reading !== undefined) reading.end = end
  }

  /**
   * Applies the cleanup policy to complete files. A file that was modified in the meantime is listed again as a new
   * file.
   */
  async finish(): Promise<void> {
    for (const [name, { file, waiting, end }] of this.#files) {
      if (end === undefined || waiting > 0) continue
      if (this.#inbox.keepsFiles) this.#kept.set(name, file)
      else if (await this.#inbox.isUnchanged(file)) await this.#inbox.putAway(file, end)
      this.#files.delete(name)
    }
  }
}
