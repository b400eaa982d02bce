import type { AgentOptions as TlsAgentOptions, ServerOptions as TlsServerOptions } from 'node:https'
import type { Logger } from '../config/logger.ts'
import { type SslSettings, tlsMaterial } from '../config/tls.ts'
import { Users } from '../http/users.ts'
import type { RegistryValues } from './settings.ts'

/** The certificate of https listeners, and whether clients have to show one. Undefined when no listener is on https. */
export function listenerTls(values: RegistryValues): TlsServerOptions | undefined {
  const wanted = values.listeners.some((listener) => listener.toLowerCase().startsWith('https:'))
  if (!wanted || !(values['ssl.keystore.location'] || values['ssl.keystore.certificate.chain'])) return undefined
  const client = values['ssl.client.authentication']
  return { ...tlsMaterial(sslOf(values)), requestCert: client !== 'NONE', rejectUnauthorized: client === 'REQUIRED' }
}

/** How the leader is reached on https: with this instance's own certificate, trusting what its truststore says. */
export function instanceTls(values: RegistryValues): TlsAgentOptions {
  const anyHost = values['ssl.endpoint.identification.algorithm'] === ''
  return { ...tlsMaterial(sslOf(values)), ...(anyHost ? { checkServerIdentity: () => undefined } : {}) }
}

/** Undefined when everybody may come in. */
export function usersOf(values: RegistryValues, logger: Logger): Users | undefined {
  if (values['authentication.method'] === 'NONE') return undefined
  const file = values['weir.authentication.users.file']
  return file === ''
    ? Users.fromText(values['weir.authentication.users'], 'weir.authentication.users')
    : Users.fromFile(file, logger)
}

function sslOf(values: RegistryValues): SslSettings {
  const ssl = Object.entries(values).filter((entry): entry is [string, string] => entry[0].startsWith('ssl.'))
  return Object.fromEntries(ssl)
}
