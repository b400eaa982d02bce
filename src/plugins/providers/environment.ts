import { javaRegex, regexField } from '../../java-compat/java-regex.ts'
import { defineProvider, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'

export const environmentProvider = defineProvider({
  class: 'EnvVarConfigProvider',
  aliases: ['org.apache.kafka.common.config.provider.EnvVarConfigProvider'],
  version: SHIPPED_VERSION,
  summary: 'Provides the values of environment variables of the worker: `${NAME:VARIABLE}`.',
  config: z.object({
    'allowlist.pattern': regexField('allowlist.pattern', {
      doc: 'Regular expression that must match the complete name of a variable. Default: all variables; with authentication enabled, all except those that configure the worker itself.',
    }).optional(),
  }),
  create({ 'allowlist.pattern': pattern }, { isOwnVariable }) {
    const allowed = pattern === undefined ? undefined : javaRegex(pattern, { whole: true })
    return {
      read(path, keys) {
        if (path !== '') throw new Error(`Path is not supported for EnvVarConfigProvider, invalid value '${path}'`)
        return Object.fromEntries(
          keys.flatMap((key) => {
            const isReadable = allowed === undefined ? !isOwnVariable(key) : allowed.test(key)
            const value = isReadable ? process.env[key] : undefined
            return value === undefined ? [] : [[key, value]]
          }),
        )
      },
    }
  },
})
