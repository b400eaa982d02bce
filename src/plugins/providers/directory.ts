import { join } from 'node:path'
import { defineProvider, type FileAccess, isNotAllowed, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'
import { allowedPath, allowedPaths } from './allowed-paths.ts'

export const directoryProvider = defineProvider({
  class: 'DirectoryConfigProvider',
  aliases: ['org.apache.kafka.common.config.provider.DirectoryConfigProvider'],
  version: SHIPPED_VERSION,
  summary:
    'Provides the contents of files in a directory, such as a mounted Secret: `${NAME:/path/to/directory:FILE}`.',
  config: z.object({ 'allowed.paths': allowedPaths() }),
  create: ({ 'allowed.paths': allowed }, { files }) => ({
    async read(path, keys) {
      if (path === '') return {}
      const found = await Promise.all(keys.map((key) => contentOf(path, key, allowed, files)))
      return Object.fromEntries(found.flatMap((content, at) => (content === undefined ? [] : [[keys[at]!, content]])))
    },
  }),
})

/** Returns the content of a file in the directory, or undefined. Subdirectories are not searched. */
async function contentOf(
  folder: string,
  name: string,
  allowed: readonly string[],
  files: FileAccess,
): Promise<string | undefined> {
  if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) return undefined
  const file = join(folder, name)
  // The files of a mounted Secret are symbolic links into another directory.
  const real = await allowedPath(file, allowed, files)
  if (real === undefined) return undefined
  try {
    await using handle = await files.open(real)
    return (await handle.stat()).isFile() ? await handle.readFile('utf8') : undefined
  } catch (error) {
    if (isNotAllowed(error)) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`Could not read file at path ${file}: ${(error as Error).message}`, { cause: error })
  }
}
