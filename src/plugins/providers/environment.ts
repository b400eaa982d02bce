import { defineProvider, z } from '../../sdk/index.ts'
import { javaRegex, regexText } from '../java-regex.ts'
import { SHIPPED_VERSION } from '../version.ts'

export const environmentProvider = defineProvider({
  class: 'EnvVarConfigProvider',
  aliases: ['org.apache.kafka.common.config.provider.EnvVarConfigProvider'],
  version: SHIPPED_VERSION,
  summary: "Reads variables of the worker's environment: `${NAME:VARIABLE}`.",
  config: z.object({
    'allowlist.pattern': regexText('allowlist.pattern', {
      doc: 'Variables whose whole name matches may be read. None: all of them.',
    }).optional(),
  }),
  create({ 'allowlist.pattern': pattern }) {
    const allowed = pattern === undefined ? undefined : javaRegex(pattern, { whole: true })
    return {
      read(path, keys) {
        if (path !== '') throw new Error(`Path is not supported for EnvVarConfigProvider, invalid value '${path}'`)
        return Object.fromEntries(
          keys.flatMap((key) => {
            const value = allowed?.test(key) === false ? undefined : process.env[key]
            return value === undefined ? [] : [[key, value]]
          }),
        )
      },
    }
  },
})
