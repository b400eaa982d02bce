import type { SourceRecord } from '../../../sdk/index.ts'
import { type InputDirectory, type InputFile, isSameVersion } from './input-directory.ts'

type FileProgress = {
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
  readonly #directory: InputDirectory
  readonly #files = new Map<string, FileProgress>()
  readonly #batches = new Map<readonly SourceRecord[], FileProgress>()
  /** Files that were read and remain in the directory (`finished.policy=keep`). */
  readonly #kept = new Map<string, InputFile>()

  constructor(directory: InputDirectory) {
    this.#directory = directory
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
  addBatch({ name }: InputFile, batch: readonly SourceRecord[]): void {
    const reading = this.#files.get(name)
    if (reading === undefined || batch.length === 0) return
    reading.waiting += 1
    this.#batches.set(batch, reading)
  }

  markStored(batch: readonly SourceRecord[]): void {
    const reading = this.#batches.get(batch)
    if (reading !== undefined) reading.waiting -= 1
    this.#batches.delete(batch)
  }

  endReading({ name }: InputFile, end: 'finished' | 'failed'): void {
    const reading = this.#files.get(name)
    if (reading !== undefined) reading.end = end
  }

  /**
   * Applies the cleanup policy to complete files. A file that was modified in the meantime is listed again as a new
   * file.
   */
  async cleanUpCompleted(): Promise<void> {
    for (const [name, { file, waiting, end }] of this.#files) {
      if (end === undefined || waiting > 0) continue
      if (this.#directory.keepsFiles) this.#kept.set(name, file)
      else if (await this.#directory.isUnchanged(file)) await this.#directory.cleanUp(file, end)
      this.#files.delete(name)
    }
  }
}
