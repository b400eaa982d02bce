import { createWriteStream } from 'node:fs'
import { type FileHandle, lstat, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { JavaPattern } from '../../../java-compat/regex.ts'
import { type FileAccess, isNotAllowed, type OpenDirectory, RetriableError, type TaskLog } from '../../../sdk/index.ts'

export type InputDirectoryOptions = {
  readonly directory: string
  readonly pattern: JavaPattern
  /** Names that end so are not read. */
  readonly ignoredSuffixes: readonly string[]
  /** A file is complete when one beside it has its name and this; empty: when it is old enough. */
  readonly readySuffix: string
  readonly ageMs: number
  readonly orderBy: 'name' | 'time'
  /** Whether a file of this name is this task's. */
  readonly isMine: (name: string) => boolean
  readonly afterwards: CleanupPolicy
  readonly files: FileAccess
  readonly log: TaskLog
}

/** What becomes of a file that is through. */
export type CleanupPolicy =
  | { readonly do: 'move'; readonly finished: string; readonly failed: string }
  | { readonly do: 'mark'; readonly finished: string; readonly failed: string }
  | { readonly do: 'delete'; readonly failed: string }
  /** It stays where it is. */
  | { readonly do: 'keep' }

/** A file as it was found. One of the same name, but of another size or time, is another file. */
export type InputFile = {
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
  /** The file that the name leads to, when the name is a symbolic link. */
  readonly target?: LinkTarget
}

/** `path` is the real path, which lies in the directory; `device` and `inode` identify the file. */
type LinkTarget = { readonly path: string; readonly device: number; readonly inode: number }

/** The files of a directory that wait to be read, and what becomes of them then. */
export class InputDirectory {
  readonly #options: InputDirectoryOptions
  /** Names that end so are none of a file to read. */
  readonly #suffixes: readonly string[]
  /** Files whose time is still to come, as they were when they were seen first. */
  readonly #ahead = new Map<string, { readonly bytes: number; readonly modifiedMs: number; readonly sinceMs: number }>()

  constructor(options: InputDirectoryOptions) {
    this.#options = options
    const { afterwards, ignoredSuffixes, readySuffix } = options
    const marks = [
      afterwards.do === 'mark' ? afterwards.finished : '',
      afterwards.do === 'mark' || afterwards.do === 'delete' ? afterwards.failed : '',
    ]
    this.#suffixes = [...ignoredSuffixes, ...marks, readySuffix].filter((suffix) => suffix !== '')
  }

  /** Whether files stay where they are when they are through. */
  get keepsFiles(): boolean {
    return this.#options.afterwards.do === 'keep'
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
  async list(nowMs: number): Promise<readonly InputFile[]> {
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
    const readable = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink())
    const names = new Set(readable.map((entry) => entry.name))
    const wanted = [...names].filter((name) => this.#isWanted(name) && (!readySuffix || names.has(name + readySuffix)))
    const complete: InputFile[] = []
    for (let at = 0; at < wanted.length; at += AT_ONCE) {
      const found = await Promise.all(wanted.slice(at, at + AT_ONCE).map((name) => this.#find(directory, name, nowMs)))
      complete.push(...found.filter((file) => file !== undefined))
    }
    const byName = (a: InputFile, b: InputFile) => (a.name < b.name ? -1 : 1)
    return complete.sort((a, b) => (orderBy === 'time' && a.modifiedMs - b.modifiedMs) || byName(a, b))
  }

  /** Whether a file is still as it was found. */
  async isUnchanged(file: InputFile): Promise<boolean> {
    const { directory: named, files } = this.#options
    await using directory = await files.openDirectory(named)
    const now = await inspect(directory, named, file.name)
    return now !== undefined && isSameVersion(now, file)
  }

  /**
   * Everything of it is in the log (`finished`), or it can't be read to its end. Rejects with a `RetriableError` as long as
   * the file can't be put away.
   */
  async putAway(file: InputFile, end: 'finished' | 'failed'): Promise<void> {
    const { afterwards, directory: named, readySuffix, files } = this.#options
    if (afterwards.do === 'keep') return
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
    if (name.startsWith(KUBELET_PREFIX)) return false
    return !this.#suffixes.some((suffix) => name.endsWith(suffix)) && pattern.test(name) && isMine(name)
  }

  async #find(directory: OpenDirectory, name: string, nowMs: number): Promise<InputFile | undefined> {
    const { directory: named, ageMs, readySuffix } = this.#options
    const file = await inspect(directory, named, name)
    if (file === undefined) return undefined
    const sinceMs = file.modifiedMs > nowMs ? this.#aheadSince(file, nowMs) : file.modifiedMs
    return readySuffix !== '' || nowMs - sinceMs >= ageMs ? file : undefined
  }

  /** Since when a file is as it is that a machine wrote whose clock is ahead of ours: as far as we saw it. */
  #aheadSince({ name, bytes, modifiedMs }: InputFile, nowMs: number): number {
    const known = this.#ahead.get(name)
    if (known?.bytes === bytes && known.modifiedMs === modifiedMs) return known.sinceMs
    this.#ahead.set(name, { bytes, modifiedMs, sinceMs: nowMs })
    return nowMs
  }

  async #rename(directory: OpenDirectory, file: InputFile, end: 'finished' | 'failed'): Promise<void> {
    const { afterwards, directory: named, files, log } = this.#options
    const { name, path } = file
    if (afterwards.do === 'keep') return
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
      // A relative link would lead to nothing elsewhere.
      if (file.target !== undefined) await copyAcross({ file, named, from: directory, to, target: free, files })
      else await rename(entry(directory, name), entry(to, free))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
      await copyAcross({ file, named, from: directory, to, target: free, files })
    }
    log.info({ file: path, target: join(place, free) }, 'a file is through')
  }
}

/** Kubelet's own entries of a mounted volume, such as the link `..data`, begin so. */
const KUBELET_PREFIX = '..'

/** A change of size or time makes another file of the same name, and so does a link that leads to another file. */
export function isSameVersion(a: InputFile, b: InputFile): boolean {
  return a.bytes === b.bytes && a.modifiedMs === b.modifiedMs && a.target?.inode === b.target?.inode
}

/**
 * The regular file of this name; undefined when there is none. A symbolic link counts as the file that it leads to, as long as
 * that lies in the directory: mounted ConfigMaps and Secrets have `key -> ..data/key`.
 */
async function inspect(directory: OpenDirectory, named: string, name: string): Promise<InputFile | undefined> {
  const own = await lstat(entry(directory, name)).catch(() => undefined)
  if (own?.isFile()) return found(named, name, own)
  if (!own?.isSymbolicLink()) return undefined
  try {
    const root = await realpath(directory.path)
    const path = await realpath(entry(directory, name))
    const stats = await stat(path)
    if (!isInside(root, path) || !stats.isFile()) return undefined
    return { ...found(named, name, stats), target: { path, device: stats.dev, inode: stats.ino } }
  } catch {
    return undefined
  }
}

function found(
  named: string,
  name: string,
  { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number },
): InputFile {
  return { name, path: join(named, name), bytes: size, modifiedMs: Math.trunc(mtimeMs) }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '' && way.split(sep)[0] !== '..' && !isAbsolute(way)
}

/** How many files are looked at together: of many thousands, each waiting look would hold memory. */
const AT_ONCE = 256

/** What to do about a directory that can't be read. */
const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'make it or mount it',
  ENOTDIR: 'name a directory in input.path',
}

/** Opens the very file that was found. Rejects with `ENOENT` or `ELOOP` when its name stands for something else by now. */
export async function openInputFile(
  { name, target }: InputFile,
  directory: string,
  files: FileAccess,
): Promise<FileHandle> {
  if (target !== undefined) return openTarget(target, files)
  await using opened = await files.openDirectory(directory)
  return opened.openEntry(name)
}

/** By its device and inode it is the file that was found in the directory, whatever its path leads to by now. */
async function openTarget({ path, device, inode }: LinkTarget, files: FileAccess): Promise<FileHandle> {
  const handle = await files.open(path)
  try {
    const { dev, ino } = await handle.stat()
    if (dev === device && ino === inode) return handle
    throw Object.assign(new Error(`ENOENT: '${path}' was replaced`), { code: 'ENOENT' })
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** A name that holds a separator would lead out of the directory. */
function entry({ path }: OpenDirectory, name: string): string {
  if (/[/\0]/.test(name)) throw new Error(`'${name}' is not a name in a directory: take the / out of the suffix`)
  return join(path, name)
}

type CopyOptions = {
  readonly file: InputFile
  readonly named: string
  readonly from: OpenDirectory
  readonly to: OpenDirectory
  readonly target: string
  readonly files: FileAccess
}

/** To another file system: half a copy must not look like a whole one. */
async function copyAcross({ file, named, from, to, target, files }: CopyOptions): Promise<void> {
  const part = entry(to, `${target}.part`)
  await rm(part, { force: true })
  const source = await openInputFile(file, named, files)
  // Fails where somebody put a link there meanwhile.
  await pipeline(source.createReadStream(), createWriteStream(part, { flags: 'wx' }))
  await rename(part, entry(to, target))
  await rm(entry(from, file.name))
}

/** Files that came under the same name before stay. */
async function freeName(directory: OpenDirectory, name: string, suffix: string): Promise<string> {
  for (let count = 0; ; count++) {
    const free = `${name}${count === 0 ? '' : `.${count}`}${suffix}`
    if ((await lstat(entry(directory, free)).catch(() => undefined)) === undefined) return free
  }
}
