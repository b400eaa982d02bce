import { createWriteStream } from 'node:fs'
import { type FileHandle, lstat, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Pattern } from '../../../regex/pattern.ts'
import { type FileAccess, isNotAllowed, type OpenDirectory, RetriableError, type TaskLog } from '../../../sdk/index.ts'

export type InboxOptions = {
  readonly directory: string
  readonly pattern: Pattern
  /** Names that end so are not read. */
  readonly ignoredSuffixes: readonly string[]
  /** A file is complete when one beside it has its name and this; empty: when it is old enough. */
  readonly readySuffix: string
  readonly ageMs: number
  readonly orderBy: 'name' | 'time'
  /** Whether a file of this name is this task's. */
  readonly isMine: (name: string) => boolean
  readonly afterwards: Afterwards
  readonly files: FileAccess
  readonly log: TaskLog
}

/** What becomes of a file that is through. */
export type Afterwards =
  | { readonly do: 'move'; readonly finished: string; readonly failed: string }
  | { readonly do: 'mark'; readonly finished: string; readonly failed: string }
  | { readonly do: 'delete'; readonly failed: string }

/** A file as it was found. One of the same name, but of another size or time, is another file. */
export type Found = {
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
}

/** The files of a directory that wait to be read, and what becomes of them then. */
export class Inbox {
  readonly #options: InboxOptions
  /** Names that end so are none of a file to read. */
  readonly #suffixes: readonly string[]
  /** Files whose time is still to come, as they were when they were seen first. */
  readonly #ahead = new Map<string, { readonly bytes: number; readonly modifiedMs: number; readonly sinceMs: number }>()

  constructor(options: InboxOptions) {
    this.#options = options
    const { afterwards, ignoredSuffixes, readySuffix } = options
    const marks = [
      afterwards.do === 'mark' ? afterwards.finished : '',
      afterwards.do === 'move' ? '' : afterwards.failed,
    ]
    this.#suffixes = [...ignoredSuffixes, ...marks, readySuffix].filter((suffix) => suffix !== '')
  }

  /** Makes the directories that files are moved to. Rejects when it may not. */
  async open(): Promise<void> {
    const { afterwards, files } = this.#options
    if (afterwards.do !== 'move') return
    for (const directory of [afterwards.finished, afterwards.failed]) {
      const made = await files.openDirectory(directory, { create: true }).catch((error: Error) => {
        throw new Error(`cannot make '${directory}' for files that are through: ${error.message}`, { cause: error })
      })
      await made[Symbol.asyncDispose]()
    }
  }

  /** Complete files, in order. Rejects with a `RetriableError` as long as the directory can't be read. */
  async list(nowMs: number): Promise<readonly Found[]> {
    const { directory: named, readySuffix, orderBy, files } = this.#options
    for (const [name, { modifiedMs }] of this.#ahead) if (modifiedMs <= nowMs) this.#ahead.delete(name)
    const unreadable = (error: NodeJS.ErrnoException) => {
      if (isNotAllowed(error)) throw error
      const advice = ADVICE[error.code ?? ''] ?? 'give the worker the right to read it'
      const message = error.message.replace(/'\/proc\/self\/fd\/\d+/, `'${named}`)
      throw new RetriableError(`cannot read the directory '${named}' (${message}): ${advice}`, { cause: error })
    }
    await using directory = await files.openDirectory(named).catch(unreadable)
    const entries = await readdir(directory.path, { withFileTypes: true }).catch(unreadable)
    const names = new Set(entries.filter((entry) => entry.isFile()).map((entry) => entry.name))
    const wanted = [...names].filter((name) => this.#isWanted(name) && (!readySuffix || names.has(name + readySuffix)))
    const complete: Found[] = []
    for (let at = 0; at < wanted.length; at += AT_ONCE) {
      const found = await Promise.all(wanted.slice(at, at + AT_ONCE).map((name) => this.#find(directory, name, nowMs)))
      complete.push(...found.filter((file) => file !== undefined))
    }
    const byName = (a: Found, b: Found) => (a.name < b.name ? -1 : 1)
    return complete.sort((a, b) => (orderBy === 'time' && a.modifiedMs - b.modifiedMs) || byName(a, b))
  }

  /** Whether a file is still as it was found. */
  async isUnchanged({ name, bytes, modifiedMs }: Found): Promise<boolean> {
    const { directory: named, files } = this.#options
    await using directory = await files.openDirectory(named)
    const now = await lstat(entry(directory, name)).catch(() => undefined)
    return now !== undefined && now.size === bytes && Math.trunc(now.mtimeMs) === modifiedMs
  }

  /**
   * Everything of it is in the log (`finished`), or it can't be read to its end. Rejects with a `RetriableError` as long as
   * the file can't be put away.
   */
  async putAway(file: Found, end: 'finished' | 'failed'): Promise<void> {
    const { afterwards, directory: named, readySuffix, files } = this.#options
    try {
      await using directory = await files.openDirectory(named)
      if (afterwards.do === 'delete' && end === 'finished') await rm(entry(directory, file.name), { force: true })
      else await this.#rename(directory, file, end)
      if (readySuffix !== '') await rm(entry(directory, `${file.name}${readySuffix}`), { force: true })
      this.#ahead.delete(file.name)
    } catch (error) {
      if (isNotAllowed(error)) throw error
      const places = afterwards.do === 'move' ? `'${named}' and '${afterwards[end]}'` : `'${named}'`
      throw new RetriableError(
        `cannot put '${file.path}' away, which is through (${(error as Error).message}): let the worker write in ${places}`,
        { cause: error },
      )
    }
  }

  #isWanted(name: string): boolean {
    const { pattern, isMine } = this.#options
    return !this.#suffixes.some((suffix) => name.endsWith(suffix)) && pattern.test(name) && isMine(name)
  }

  async #find(directory: OpenDirectory, name: string, nowMs: number): Promise<Found | undefined> {
    const { directory: named, ageMs, readySuffix } = this.#options
    const stats = await lstat(entry(directory, name)).catch(() => undefined)
    if (!stats?.isFile()) return undefined
    const file = { name, path: join(named, name), bytes: stats.size, modifiedMs: Math.trunc(stats.mtimeMs) }
    const sinceMs = stats.mtimeMs > nowMs ? this.#aheadSince(file, nowMs) : stats.mtimeMs
    return readySuffix !== '' || nowMs - sinceMs >= ageMs ? file : undefined
  }

  /** Since when a file is as it is that a machine wrote whose clock is ahead of ours: as far as we saw it. */
  #aheadSince({ name, bytes, modifiedMs }: Found, nowMs: number): number {
    const known = this.#ahead.get(name)
    if (known?.bytes === bytes && known.modifiedMs === modifiedMs) return known.sinceMs
    this.#ahead.set(name, { bytes, modifiedMs, sinceMs: nowMs })
    return nowMs
  }

  async #rename(directory: OpenDirectory, { name, path }: Found, end: 'finished' | 'failed'): Promise<void> {
    const { afterwards, directory: named, files, log } = this.#options
    const place = afterwards.do === 'delete' ? afterwards.failed : afterwards[end]
    if (afterwards.do !== 'move') {
      const free = await freeName(directory, name, place)
      await rename(entry(directory, name), entry(directory, free))
      log.info({ file: path, target: join(named, free) }, 'a file is through')
      return
    }
    await using to = await files.openDirectory(place)
    const free = await freeName(to, name, '')
    try {
      await rename(entry(directory, name), entry(to, free))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
      await copyAcross(directory, name, to, free)
    }
    log.info({ file: path, target: join(place, free) }, 'a file is through')
  }
}

/** How many files are looked at together: of many thousands, each waiting look would hold memory. */
const AT_ONCE = 256

/** What to do about a directory that can't be read. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'make it or mount it',
  ENOTDIR: 'name a directory in input.path',
}

/** Opens a file that was found, unless its name stands for a link by now. */
export async function openFound({ name }: Found, directory: string, files: FileAccess): Promise<FileHandle> {
  await using opened = await files.openDirectory(directory)
  return opened.openEntry(name)
}

/** A name that holds a separator would lead out of the directory. */
function entry({ path }: OpenDirectory, name: string): string {
  if (/[/\0]/.test(name)) throw new Error(`'${name}' is not a name in a directory: take the / out of the suffix`)
  return join(path, name)
}

/** To another file system: half a copy must not look like a whole one. */
async function copyAcross(from: OpenDirectory, name: string, to: OpenDirectory, target: string): Promise<void> {
  const part = entry(to, `${target}.part`)
  await rm(part, { force: true })
  const source = await from.openEntry(name)
  // Fails where somebody put a link there meanwhile.
  await pipeline(source.createReadStream(), createWriteStream(part, { flags: 'wx' }))
  await rename(part, entry(to, target))
  await rm(entry(from, name))
}

/** Files that came under the same name before stay. */
async function freeName(directory: OpenDirectory, name: string, suffix: string): Promise<string> {
  for (let count = 0; ; count++) {
    const free = `${name}${count === 0 ? '' : `.${count}`}${suffix}`
    if ((await lstat(entry(directory, free)).catch(() => undefined)) === undefined) return free
  }
}
