import { createRegistryClient, type RegistryClient } from '../../clients/registry.ts'
import { DataError, field, RetriableError, type z } from '../../sdk/index.ts'
import { SerdeError } from '../../serde/error.ts'
import type { SchemaIdOptions } from '../../serde/schema-id.ts'
import { strategyField } from './subject.ts'

/** The keys by which all converters with a registry reach it. */
export const registryFields = {
  'schema.registry.url': field
    .list({
      doc: 'Where the schema registry answers: http://host:port. Of several, the first is used.',
      importance: 'HIGH',
    })
    .refine((urls) => urls.length > 0 && urls.every((url) => URL.canParse(url)), 'expected http://host:port'),
  'auto.register.schemas': field
    .boolean({ doc: 'Register schemas that the subject does not have yet.', importance: 'MEDIUM' })
    .default(true),
  'use.latest.version': field
    .boolean({
      doc: "Write with the subject's latest schema; only where auto.register.schemas is false.",
      importance: 'LOW',
    })
    .default(false),
  'latest.compatibility.strict': field
    .boolean({
      doc: 'With use.latest.version: refuse records whose schema the latest one cannot stand for.',
      importance: 'LOW',
    })
    .default(true),
  'normalize.schemas': field
    .boolean({ doc: 'Let the registry bring schemas into their normal form first.', importance: 'LOW' })
    .default(false),
  'key.subject.name.strategy': strategyField('key'),
  'value.subject.name.strategy': strategyField('value'),
  'basic.auth.credentials.source': field
    .oneOf(['URL', 'USER_INFO'], { doc: 'Where BASIC credentials stand: in the URL or in basic.auth.user.info.' })
    .default('URL'),
  'basic.auth.user.info': field.password({ doc: 'user:password, with USER_INFO.' }).optional(),
  'schemas.cache.config': field
    .int({ doc: 'How many schemas are remembered.', importance: 'LOW', min: 1 })
    .default(1000),
} as const

export type RegistrySettings = z.infer<z.ZodObject<typeof registryFields>>

export function openRegistry(settings: RegistrySettings): RegistryClient {
  const url = new URL(settings['schema.registry.url'][0]!)
  const auth = settings['basic.auth.credentials.source'] === 'USER_INFO' ? userInfo(settings) : urlAuth(url)
  url.username = ''
  url.password = ''
  return createRegistryClient({ url: url.href, ...(auth && { auth }) })
}

type Auth = { readonly username: string; readonly password: string }

function userInfo({ 'basic.auth.user.info': info = '' }: RegistrySettings): Auth {
  const colon = info.indexOf(':')
  return { username: info.slice(0, Math.max(colon, 0)), password: info.slice(colon + 1) }
}

function urlAuth({ username, password }: URL): Auth | undefined {
  return username === ''
    ? undefined
    : { username: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/** How schemas get their ids. */
export function schemaIdOptions(settings: RegistrySettings): SchemaIdOptions {
  const otherwise = settings['use.latest.version'] ? 'use-latest' : 'look-up'
  return {
    policy: settings['auto.register.schemas'] ? 'auto-register' : otherwise,
    normalize: settings['normalize.schemas'],
    strict: settings['latest.compatibility.strict'],
  }
}

/** What a failure means for the record: try it again, or it cannot be written or read at all. */
export function recordFailure(error: unknown): unknown {
  if (!(error instanceof SerdeError)) return error
  const options = { cause: error }
  return error.code === 'unavailable'
    ? new RetriableError(error.message, options)
    : new DataError(error.message, options)
}
