import { readFileSync } from 'node:fs'
import { constants, mkdir, open, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { HostAccess } from './access.ts'

/** All that the process itself may use: where nobody restricts connectors, and in tests of plugins. */
export const UNRESTRICTED: HostAccess = {
  files: {
    realPath: realPathOf,
    checkPath: () => {},
    open: (path, flags = 'r') => open(path, flags),
    readFileSync: (path) => readFileSync(path),
    openDirectory: async (path, { create = false } = {}) => {
      if (create) await mkdir(path, { recursive: true })
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

/** Of what does not exist: the real path of the nearest directory that does, and the rest of the name. */
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
