import { readFileSync } from 'node:fs'
import { constants, open, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { createDirectories } from '../common/create-directories.ts'
import type { HostAccess } from './host-access.ts'

/** Access without restrictions: for workers without an access policy, and for tests of plugins. */
export const UNRESTRICTED: HostAccess = {
  files: {
    realPath: realPathOf,
    checkPath: () => {},
    open: (path, flags = 'r') => open(path, flags),
    readFileSync: (path) => readFileSync(path),
    openDirectory: async (path, { create = false } = {}) => {
      if (create) createDirectories(path)
      return {
        path,
        openEntry: (name) => open(join(path, name), constants.O_RDONLY | constants.O_NOFOLLOW),
        [Symbol.asyncDispose]: async () => {},
      }
    },
  },
  network: {
    connectOptions: () => ({}),
    resolve: async (host) => host,
    checkListener: () => {},
  },
}

/** The real path. For a path that does not exist: the real path of its nearest existing directory, and the rest of the path. */
export async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const parent = dirname(resolve(path))
    if (code !== 'ENOENT' || parent === resolve(path)) throw error
    return join(await realPathOf(parent), basename(resolve(path)))
  }
}
