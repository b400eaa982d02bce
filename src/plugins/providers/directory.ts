import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { defineProvider, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../version.ts'
import { allowedPaths, isAllowed } from './allowed-paths.ts'

export const directoryProvider = defineProvider({
  class: 'DirectoryConfigProvider',
  aliases: ['org.apache.kafka.common.config.provider.DirectoryConfigProvider'],
  version: SHIPPED_VERSION,
  summary: 'Reads whole files of a folder, such as a mounted secret: `${NAME:/path/to/folder:FILE}`.',
  config: z.object({ 'allowed.paths': allowedPaths() }),
  create: ({ 'allowed.paths': allowed }) => ({
    async read(path, keys) {
      if (!isAllowed(path, allowed)) return {}
      const found = await Promise.all(keys.map((key) => contentOf(path, key)))
      return Object.fromEntries(found.flatMap((content, at) => (content === undefined ? [] : [[keys[at]!, content]])))
    },
  }),
})

/** A file of the folder itself; what is in folders below it is not there. */
async function contentOf(folder: string, name: string): Promise<string | undefined> {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) return undefined
  const file = join(folder, name)
  try {
    return (await stat(file)).isFile() ? await readFile(file, 'utf8') : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`Could not read file at path ${file}: ${(error as Error).message}`, { cause: error })
  }
}
