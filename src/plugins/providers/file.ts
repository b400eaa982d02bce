import { type Property, parseProperties } from '../../config/properties.ts'
import { defineProvider, type FileAccess, isNotAllowed, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'
import { allowedPath, allowedPaths } from './allowed-paths.ts'

export const fileProvider = defineProvider({
  class: 'FileConfigProvider',
  aliases: ['org.apache.kafka.common.config.provider.FileConfigProvider'],
  version: SHIPPED_VERSION,
  summary: 'Provides values from `.properties` files: `${NAME:/path/to/file.properties:KEY}`.',
  config: z.object({ 'allowed.paths': allowedPaths() }),
  create: ({ 'allowed.paths': allowed }, { files }) => ({
    async read(path, keys) {
      const real = await allowedPath(path, allowed, files)
      if (real === undefined) return {}
      const found = await propertiesOf(path, real, files)
      return Object.fromEntries(
        keys.flatMap((key) => {
          const property = found.get(key)
          return property === undefined ? [] : [[key, property.value]]
        }),
      )
    },
  }),
})

/**
 * Reads the resolved path that was checked, so that a symbolic link created since then is not followed. As in Kafka, whose provider
 * differs in this from the files of settings, the file must be UTF-8.
 */
async function propertiesOf(path: string, real: string, files: FileAccess): Promise<ReadonlyMap<string, Property>> {
  try {
    await using handle = await files.open(real)
    return parseProperties(UTF_8.decode(await handle.readFile()))
  } catch (error) {
    if (isNotAllowed(error)) throw error
    throw new Error(`Could not read properties from file ${path}: ${(error as Error).message}`, { cause: error })
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
