import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { createDirectories } from '../../common/create-directories.ts'
import { type FileAccess, realPathOf } from '../../sdk/index.ts'
import { notAllowed, type PathPolicy } from './host-access-policy.ts'

/**
 * Opens a directory as a reference only, without the permission to read it. Linux's value, which is the same on all
 * architectures that Node supports.
 */
const O_PATH = 0o10000000
const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants
const FLAGS = { r: O_RDONLY, 'a+': O_RDWR | O_APPEND | O_CREAT }
const IS_LINUX = process.platform === 'linux'

/**
 * File access of connectors, restricted by a policy to real paths. A path is resolved and checked first; then its
 * directory is opened and compared with the checked one, and the file is opened relative to that directory without
 * following a symbolic link. So changing links in the meantime has no effect. On systems other than Linux, which cannot
 * open a file relative to an open directory, the opened file is compared with its resolved path instead.
 */
export function createFileAccess(policy: PathPolicy): FileAccess {
  async function realPath(written: string): Promise<string> {
    // A path that cannot be resolved must not count as allowed, although opening it would fail as well.
    const real = await realPathOf(written).catch(() => (policy.allowed === undefined ? resolve(written) : undefined))
    const roots = await Promise.all((policy.allowed ?? []).map(rootPath))
    const own = await Promise.all(policy.own.map(rootPath))
    return judged(written, real, { allowed: policy.allowed && roots, own })
  }

  async function openFile(written: string, flags: number): Promise<FileHandle> {
    const real = await realPath(written)
    await using directory = await pin(dirname(real), written)
    const path = join(directory.path, basename(real))
    return checked(await open(path, flags | O_NOFOLLOW).catch((error) => refused(error, path, written)), real, written)
  }

  async function checked(handle: FileHandle, real: string, written: string): Promise<FileHandle> {
    try {
      const stats = await handle.stat({ bigint: true })
      const own = await Promise.all(policy.own.map((path) => stat(path, { bigint: true }).catch(() => undefined)))
      if (own.some((one) => isSame(one, stats))) throw ownFile(written)
      if (!IS_LINUX && (!isSame(await lstat(real, { bigint: true }), stats) || (await realpath(real)) !== real)) {
        throw changing(written)
      }
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  const realPathNow = (written: string) => {
    const roots = { allowed: policy.allowed?.map(rootPathSync), own: policy.own.map(rootPathSync) }
    return judged(written, realPathSync(written), roots)
  }

  return {
    realPath,
    checkPath: (path) => void realPathNow(path),
    open: (path, flags = 'r') => openFile(path, FLAGS[flags]),
    readFileSync(written) {
      const real = realPathNow(written)
      const descriptor = openedSync(real, written)
      try {
        if (pathOfSync(descriptor, real) !== real) throw changing(written)
        const stats = fstatSync(descriptor, { bigint: true })
        const own = policy.own.map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
        if (own.some((one) => isSame(one, stats))) throw ownFile(written)
        return readFileSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
    },
    async openDirectory(written, { create = false } = {}) {
      const real = await realPath(written)
      if (create) createDirectories(real)
      const directory = await pin(real, written)
      return {
        path: directory.path,
        openEntry: async (name) =>
          checked(await open(join(directory.path, name), O_RDONLY | O_NOFOLLOW), join(real, name), written),
        [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
      }
    },
  }
}

/** Opens a directory by its checked real path, so that later changes of the path have no effect. */
async function pin(real: string, written: string): Promise<AsyncDisposable & { readonly path: string }> {
  const handle = await open(real, (IS_LINUX ? O_PATH : O_RDONLY) | O_DIRECTORY | O_NOFOLLOW)
  const path = IS_LINUX ? `/proc/self/fd/${handle.fd}` : real
  if (IS_LINUX && (await readlink(path)) !== real) {
    await handle.close()
    throw changing(written)
  }
  return { path, [Symbol.asyncDispose]: () => handle.close() }
}

type Roots = { readonly allowed: readonly string[] | undefined; readonly own: readonly string[] }

/**
 * Returns the real path if it is allowed. `real` is undefined if the path could not be resolved; it is then not
 * allowed.
 */
function judged(written: string, real: string | undefined, { allowed, own }: Roots): string {
  if (real !== undefined && own.some((root) => isInDirectory(root, real))) throw ownFile(written)
  if (real !== undefined && (allowed === undefined || allowed.some((root) => isInDirectory(root, real)))) return real
  const places = allowed === undefined || allowed.length === 0 ? 'no path' : allowed.join(', ')
  throw notAllowed(
    `connectors may not use '${written}': connector.paths.allowed in the worker's settings has ${places}`,
  )
}

function ownFile(written: string): Error {
  return notAllowed(`connectors may not use '${written}': it belongs to the worker itself`)
}

function changing(written: string): Error {
  return notAllowed(`connectors may not use '${written}': its path leads elsewhere from moment to moment`)
}

/**
 * `ELOOP` means that the checked file was replaced by a symbolic link. Other errors are reported with the path as
 * written.
 */
function refused(error: NodeJS.ErrnoException, opened: string, written: string): never {
  if (error.code === 'ELOOP') throw changing(written)
  error.message = error.message.replace(opened, written)
  throw error
}

export function isInDirectory(root: string, path: string): boolean {
  const way = relative(root, path)
  return way.split(sep)[0] !== '..' && !isAbsolute(way)
}

function rootPath(path: string): Promise<string> {
  return realPathOf(path).catch(() => resolve(path))
}

function rootPathSync(path: string): string {
  return realPathSync(path) ?? resolve(path)
}

function realPathSync(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch (error) {
    const parent = dirname(resolve(path))
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === resolve(path)) return undefined
    const real = realPathSync(parent)
    return real === undefined ? undefined : join(real, basename(resolve(path)))
  }
}

function openedSync(real: string, written: string): number {
  try {
    return openSync(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    return refused(error as NodeJS.ErrnoException, real, written)
  }
}

function pathOfSync(descriptor: number, real: string): string {
  return IS_LINUX ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(real)
}

function isSame(a: BigIntStats | undefined, b: BigIntStats): boolean {
  return a !== undefined && a.ino === b.ino && a.dev === b.dev
}
