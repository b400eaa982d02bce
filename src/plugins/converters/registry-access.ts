import type { Endpoint } from '../../clients/http-client.ts'
import { createRegistryClient, type RegistryClient } from '../../clients/registry-client.ts'
import { readTls, sslSettings } from '../../java-compat/connector-tls.ts'
import { DataError, type FileAccess, type HostAccess, RetriableError } from '../../sdk/index.ts'
import type { SchemaIdOptions } from '../../serde/schema-id.ts'
import { SerdeError } from '../../serde/serde-error.ts'
import type { ConverterRegistrySettings } from './registry-keys.ts'

/** Creates a client without sending a request. Throws if a certificate cannot be read. */
export function openRegistry(settings: ConverterRegistrySettings, { files, network }: HostAccess): RegistryClient {
  const [url, ...others] = settings['schema.registry.url'].map((text) => new URL(text))
  const auth = authOf(settings, url!)
  const tls = tlsOf(settings, files)
  return createRegistryClient({
    url: bare(url!),
    otherUrls: others.map(bare),
    timeoutMs: settings['http.read.timeout.ms'],
    connectOptions: network.connectOptions,
    ...(auth && { auth }),
    ...(tls && { tls }),
  })
}

function bare(url: URL): string {
  const { protocol, host, pathname } = url
  return `${protocol}//${host}${pathname}`
}

function authOf(settings: ConverterRegistrySettings, url: URL): Endpoint['auth'] {
  const { 'bearer.auth.token': token = '' } = settings
  if (settings['bearer.auth.credentials.source'] !== undefined) return { token }
  return settings['basic.auth.credentials.source'] === 'USER_INFO' ? userInfo(settings) : urlAuth(url)
}

function userInfo(settings: ConverterRegistrySettings): Endpoint['auth'] {
  const info = settings['basic.auth.user.info'] ?? settings['schema.registry.basic.auth.user.info'] ?? ''
  const colon = info.indexOf(':')
  return { username: info.slice(0, Math.max(colon, 0)), password: info.slice(colon + 1) }
}

function urlAuth({ username, password }: URL): Endpoint['auth'] {
  return username === ''
    ? undefined
    : { username: decodeURIComponent(username), password: decodeURIComponent(password) }
}

/** Returns undefined if no TLS option is configured, so that the default connection pool is shared. */
function tlsOf(settings: ConverterRegistrySettings, files: FileAccess): Endpoint['tls'] {
  const ssl = sslSettings('schema.registry.', settings)
  const anyHost = settings['schema.registry.ssl.endpoint.identification.algorithm'] === ''
  if (Object.keys(ssl).length === 1 && !anyHost) return undefined
  return {
    ...readTls('schema.registry.', settings, files),
    ...(anyHost && { checkServerIdentity: () => undefined }),
  }
}

/** Options that control how schema ids are obtained. */
export function schemaIdOptions(settings: ConverterRegistrySettings): SchemaIdOptions {
  const policy = policyOf(settings)
  return {
    policy,
    normalize: settings['normalize.schemas'],
    strict: settings[typeof policy === 'object' ? 'id.compatibility.strict' : 'latest.compatibility.strict'],
  }
}

function policyOf(settings: ConverterRegistrySettings): SchemaIdOptions['policy'] {
  const id = settings['use.schema.id']
  if (settings['auto.register.schemas']) return 'auto-register'
  if (id >= 0) return { id }
  return settings['use.latest.version'] ? 'use-latest' : 'look-up'
}

/** Maps a serde error to a `RetriableError` if the registry is unavailable, otherwise to a `DataError`. */
export function recordFailure(error: unknown): unknown {
  if (!(error instanceof SerdeError)) return error
  const options = { cause: error }
  return error.code === 'unavailable'
    ? new RetriableError(error.message, options)
    : new DataError(error.message, options)
}
