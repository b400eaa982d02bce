import { createWriteStream } from 'node:fs'
import { type FileHandle, lstat, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { JavaPattern } from '../../../java-compat/java-regex.ts'
import { type FileAccess, isNotAllowed, type OpenDirectory, RetriableError, type TaskLog } from '../../../sdk/index.ts'

export type InputDirectoryOptions = {
  readonly directory: string
  readonly pattern: JavaPattern
  /** Names with these suffixes are not read. */
  readonly ignoredSuffixes: readonly string[]
  /**
   * A file is complete when a file with its name and this suffix exists. If empty, a file is complete at the age
   * `ageMs`.
   */
  readonly readySuffix: string
  readonly ageMs: number
  readonly orderBy: 'name' | 'time'
  /** Whether the file with this name is assigned to this task. */
  readonly isAssigned: (name: string) => boolean
  readonly cleanup: CleanupPolicy
  readonly files: FileAccess
  readonly log: TaskLog
}

/** How complete files are handled. */
export type CleanupPolicy =
  | { readonly do: 'move'; readonly finished: string; readonly failed: string }
  | { readonly do: 'mark'; readonly finished: string; readonly failed: string }
  | { readonly do: 'delete'; readonly failed: string }
  /** The file remains in the directory. */
  | { readonly do: 'keep' }

/** A file as it was listed. A file with the same name but another size or modification time is a different file. */
export type InputFile = {
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
  /** The target, if the name is a symbolic link. */
  readonly target?: LinkTarget
}

/** `path` is the resolved path, which is inside the directory; `device` and `inode` identify the file. */
type LinkTarget = { readonly path: string; readonly device: number; readonly inode: number }

/** Lists the files of a directory that are ready to be read, and applies the cleanup policy to them afterwards. */
export class InputDirectory {
  readonly #options: InputDirectoryOptions
  /** Files with these suffixes are not listed. */
  readonly #suffixes: readonly string[]
  /** Files with a modification time in the future, as they were first observed. */
  readonly #ahead = new Map<string, { readonly bytes: number; readonly modifiedMs: number; readonly sinceMs: number }>()

  constructor(options: InputDirectoryOptions) {
    this.#options = options
    const { cleanup, ignoredSuffixes, readySuffix } = options
    const marks = [
      cleanup.do === 'mark' ? cleanup.finished : '',
      cleanup.do === 'mark' || cleanup.do === 'delete' ? cleanup.failed : '',
    ]
    this.#suffixes = [...ignoredSuffixes, ...marks, readySuffix].filter((suffix) => suffix !== '')
  }

  /** Whether complete files remain in the directory. */
  get keepsFiles(): boolean {
    return this.#options.cleanup.do === 'keep'
  }

  /** Creates the directories that files are moved to. Rejects if that is not permitted. */
  async open(): Promise<void> {
    const { cleanup, files } = this.#options
    if (cleanup.do !== 'move') return
    for (const directory of [cleanup.finished, cleanup.failed]) {
      const made = await files.openDirectory(directory, { create: true }).catch((error: Error) => {
        throw new Error(`cannot create the directory '${directory}' for files that were read: ${error.message}`, {
          cause: error,
        })
      })
      await made[Symbol.asyncDispose]()
    }
  }

  /** Returns complete files, in order. Rejects with a `RetriableError` while the directory cannot be read. */
  async list(nowMs: number): Promise<readonly InputFile[]> {
    const { directory: directoryPath, readySuffix, orderBy, files } = this.#options
    for (const [name, { modifiedMs }] of this.#ahead) if (modifiedMs <= nowMs) this.#ahead.delete(name)
    const unreadable = (error: NodeJS.ErrnoException) => {
      if (isNotAllowed(error)) throw error
      const advice = REMEDIES[error.code ?? ''] ?? 'grant the worker permission to read it'
      const message = error.message.replace(/'\/proc\/self\/fd\/\d+/, `'${directoryPath}`)
      throw new RetriableError(`cannot read the directory '${directoryPath}' (${message}): ${advice}`, { cause: error })
    }
    await using directory = await files.openDirectory(directoryPath).catch(unreadable)
    const entries = await readdir(directory.path, { withFileTypes: true }).catch(unreadable)
    const readable = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink())
    const names = new Set(readable.map((entry) => entry.name))
    const wanted = [...names].filter((name) => this.#isWanted(name) && (!readySuffix || names.has(name + readySuffix)))
    const complete: InputFile[] = []
    for (let at = 0; at < wanted.length; at += CONCURRENCY_MAX) {
      const toInputFile = await Promise.all(
        wanted.slice(at, at + CONCURRENCY_MAX).map((name) => this.#find(directory, name, nowMs)),
      )
      complete.push(...toInputFile.filter((file) => file !== undefined))
    }
    const byName = (a: InputFile, b: InputFile) => (a.name < b.name ? -1 : 1)
    return complete.sort((a, b) => (orderBy === 'time' && a.modifiedMs - b.modifiedMs) || byName(a, b))
  }

  /** Whether a file is unchanged since it was listed. */
  async isUnchanged(file: InputFile): Promise<boolean> {
    const { directory: directoryPath, files } = this.#options
    await using directory = await files.openDirectory(directoryPath)
    const now = await inspect(directory, directoryPath, file.name)
    return now !== undefined && isSameVersion(now, file)
  }

  /**
   * Applies the cleanup policy to a file that is completely written to the topic (`finished`) or cannot be read to its
   * end (`failed`). Rejects with a `RetriableError` if the file cannot be moved or deleted.
   */
  async cleanUp(file: InputFile, end: 'finished' | 'failed'): Promise<void> {
    const { cleanup, directory: directoryPath, readySuffix, files } = this.#options
    if (cleanup.do === 'keep') return
    try {
      await using directory = await files.openDirectory(directoryPath)
      if (cleanup.do === 'delete' && end === 'finished') await rm(entry(directory, file.name), { force: true })
      else await this.#rename(directory, file, end)
      if (readySuffix !== '') await rm(entry(directory, `${file.name}${readySuffix}`), { force: true })
      this.#ahead.delete(file.name)
    } catch (error) {
      if (isNotAllowed(error)) throw error
      const directories = cleanup.do === 'move' ? `'${directoryPath}' and '${cleanup[end]}'` : `'${directoryPath}'`
      throw new RetriableError(
        `cannot move, rename or delete '${file.path}', which was read (${(error as Error).message}): grant the worker write permission in ${directories}`,
        { cause: error },
      )
    }
  }

  #isWanted(name: string): boolean {
    const { pattern, isAssigned } = this.#options
    if (name.startsWith(KUBELET_PREFIX)) return false
    return !this.#suffixes.some((suffix) => name.endsWith(suffix)) && pattern.test(name) && isAssigned(name)
  }

  async #find(directory: OpenDirectory, name: string, nowMs: number): Promise<InputFile | undefined> {
    const { directory: directoryPath, ageMs, readySuffix } = this.#options
    const file = await inspect(directory, directoryPath, name)
    if (file === undefined) return undefined
    const sinceMs = file.modifiedMs > nowMs ? this.#aheadSince(file, nowMs) : file.modifiedMs
    return readySuffix !== '' || nowMs - sinceMs >= ageMs ? file : undefined
  }

  /**
   * Returns since when a file with a modification time in the future has been unchanged, in ms since 1970. Such a file
   * comes from a machine whose clock is ahead, so its age is measured from the first observation.
   */
  #aheadSince({ name, bytes, modifiedMs }: InputFile, nowMs: number): number {
    const known = this.#ahead.get(name)
    if (known?.bytes === bytes && known.modifiedMs === modifiedMs) return known.sinceMs
    this.#ahead.set(name, { bytes, modifiedMs, sinceMs: nowMs })
    return nowMs
  }

  async #rename(directory: OpenDirectory, file: InputFile, end: 'finished' | 'failed'): Promise<void> {
    const { cleanup, directory: directoryPath, files, log } = this.#options
    const { name, path } = file
    if (cleanup.do === 'keep') return
    const destination = cleanup.do === 'delete' ? cleanup.failed : cleanup[end]
    if (cleanup.do !== 'move') {
      const unusedName = await findUnusedName(directory, name, destination)
      await rename(entry(directory, name), entry(directory, unusedName))
      log.info({ file: path, target: join(directoryPath, unusedName) }, 'renamed a file that was read')
      return
    }
    await using to = await files.openDirectory(destination)
    const unusedName = await findUnusedName(to, name, '')
    try {
      // The target is copied, because a relative link would be broken in another directory.
      if (file.target !== undefined)
        await copyAcross({ file, directoryPath, from: directory, to, target: unusedName, files })
      else await rename(entry(directory, name), entry(to, unusedName))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
      await copyAcross({ file, directoryPath, from: directory, to, target: unusedName, files })
    }
    log.info({ file: path, target: join(destination, unusedName) }, 'renamed a file that was read')
  }
}

/** Prefix of kubelet's own entries in a mounted volume, such as the link `..data`. */
const KUBELET_PREFIX = '..'

/** A file differs if its size, modification time or link target has changed. */
export function isSameVersion(a: InputFile, b: InputFile): boolean {
  return a.bytes === b.bytes && a.modifiedMs === b.modifiedMs && a.target?.inode === b.target?.inode
}

/**
 * Returns the regular file with this name, or undefined. A symbolic link is treated as its target if the target is
 * inside the directory: in mounted ConfigMaps and Secrets, `key` is a link to `..data/key`.
 */
async function inspect(directory: OpenDirectory, directoryPath: string, name: string): Promise<InputFile | undefined> {
  const own = await lstat(entry(directory, name)).catch(() => undefined)
  if (own?.isFile()) return toInputFile(directoryPath, name, own)
  if (!own?.isSymbolicLink()) return undefined
  try {
    const root = await realpath(directory.path)
    const path = await realpath(entry(directory, name))
    const stats = await stat(path)
    if (!isInside(root, path) || !stats.isFile()) return undefined
    return { ...toInputFile(directoryPath, name, stats), target: { path, device: stats.dev, inode: stats.ino } }
  } catch {
    return undefined
  }
}

function toInputFile(
  directoryPath: string,
  name: string,
  { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number },
): InputFile {
  return { name, path: join(directoryPath, name), bytes: size, modifiedMs: Math.trunc(mtimeMs) }
}

function isInside(root: string, path: string): boolean {
  const rest = relative(root, path)
  return rest !== '' && rest.split(sep)[0] !== '..' && !isAbsolute(rest)
}

/** Number of files that are examined concurrently. Limits memory use in directories with many thousands of files. */
const CONCURRENCY_MAX = 256

/** Remedies for a directory that cannot be read. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: 'create or mount it',
  ENOTDIR: 'set input.path to a directory',
}

/** Opens exactly the file that was listed. Rejects with `ENOENT` or `ELOOP` if the name now refers to another file. */
export async function openInputFile(
  { name, target }: InputFile,
  directory: string,
  files: FileAccess,
): Promise<FileHandle> {
  if (target !== undefined) return openTarget(target, files)
  await using opened = await files.openDirectory(directory)
  return opened.openEntry(name)
}

/** Verifies by device and inode that the path still refers to the file that was listed. */
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

/** Rejects names with a separator, which would refer to another directory. */
function entry({ path }: OpenDirectory, name: string): string {
  if (/[/\0]/.test(name)) throw new Error(`'${name}' is not a file name: remove the / from the suffix`)
  return join(path, name)
}

type CopyOptions = {
  readonly file: InputFile
  readonly directoryPath: string
  readonly from: OpenDirectory
  readonly to: OpenDirectory
  readonly target: string
  readonly files: FileAccess
}

/** Copies a file to another file system. The copy has a temporary name until it is complete. */
async function copyAcross({ file, directoryPath, from, to, target, files }: CopyOptions): Promise<void> {
  const part = entry(to, `${target}.part`)
  await rm(part, { force: true })
  const source = await openInputFile(file, directoryPath, files)
  // The flag `wx` fails if a link with this name was created in the meantime.
  await pipeline(source.createReadStream(), createWriteStream(part, { flags: 'wx' }))
  await rename(part, entry(to, target))
  await rm(entry(from, file.name))
}

/** Returns a name that is not in use, so that existing files are not overwritten. */
async function findUnusedName(directory: OpenDirectory, name: string, suffix: string): Promise<string> {
  for (let count = 0; ; count++) {
    const unusedName = `${name}${count === 0 ? '' : `.${count}`}${suffix}`
    if ((await lstat(entry(directory, unusedName)).catch(() => undefined)) === undefined) return unusedName
  }
}
