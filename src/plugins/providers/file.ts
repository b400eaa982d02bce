import { readFile } from 'node:fs/promises'
import { parseProperties } from '../../config/properties.ts'
import { defineProvider, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../version.ts'
import { allowedPaths, isAllowed } from './allowed-paths.ts'

export const fileProvider = defineProvider({
  class: 'FileConfigProvider',
  aliases: ['org.apache.kafka.common.config.provider.FileConfigProvider'],
  version: SHIPPED_VERSION,
  summary: 'Reads values of `.properties` files: `${NAME:/path/to/file.properties:KEY}`.',
  config: z.object({ 'allowed.paths': allowedPaths() }),
  create: ({ 'allowed.paths': allowed }) => ({
    async read(path, keys) {
      if (!isAllowed(path, allowed)) return {}
      const found = parseProperties(await textOf(path))
      return Object.fromEntries(
        keys.flatMap((key) => {
          const property = found.get(key)
          return property === undefined ? [] : [[key, property.value]]
        }),
      )
    },
  }),
})

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new Error(`Could not read properties from file ${path}: ${(error as Error).message}`, { cause: error })
  }
}
