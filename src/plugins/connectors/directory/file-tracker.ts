import type { SourceRecord } from '../../../sdk/index.ts'
import { type InputDirectory, type InputFile, isSameVersion } from './input-directory.ts'

type Reading = {
  readonly file: InputFile
  /** Batches of it that are not in the log yet. */
  waiting: number
  /** How its reading ended; undefined: it goes on. */
  end: 'finished' | 'failed' | undefined
}

/** How far files are: one is through when it was read to its end and all of it is in the log. */
export class FileTracker {
  readonly #inbox: InputDirectory
  readonly #files = new Map<string, Reading>()
  readonly #batches = new Map<readonly SourceRecord[], Reading>()
  /** Files that were read and stay where they are (`finished.policy=keep`). */
  readonly #kept = new Map<string, InputFile>()

  constructor(inbox: InputDirectory) {
    this.#inbox = inbox
  }

  /** Whether files wait for the log. */
  get isBusy(): boolean {
    return this.#files.size > 0
  }

  /** Files of a listing that have not been read and are not being read. Kept files that are gone are forgotten. */
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

  /** These are on their way to the log. */
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

  /** Puts away what is through. What was changed meanwhile is found again, as another file. */
  async finish(): Promise<void> {
    for (const [name, { file, waiting, end }] of this.#files) {
      if (end === undefined || waiting > 0) continue
      if (this.#inbox.keepsFiles) this.#kept.set(name, file)
      else if (await this.#inbox.isUnchanged(file)) await this.#inbox.putAway(file, end)
      this.#files.delete(name)
    }
  }
}
