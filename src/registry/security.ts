import type { AgentOptions, ServerOptions } from 'node:https'
import {
  type CertificateExpiry,
  certificateExpiry,
  type SslSettings,
  type TlsSource,
  tlsSource,
} from '../config/tls.ts'
import { listenerProtocols } from '../config/tls-protocols.ts'
import type { RegistryValues } from './settings.ts'

/** The certificate of https listeners, and whether clients have to show one. Undefined when no listener is on https. */
export function listenerTls(values: RegistryValues): TlsSource<ServerOptions> | undefined {
  const wanted = values.listeners.some((listener) => listener.toLowerCase().startsWith('https:'))
  if (!wanted || !(values['ssl.keystore.location'] || values['ssl.keystore.certificate.chain'])) return undefined
  const client = values['ssl.client.authentication']
  return tlsSource(sslOf(values), {
    ...listenerProtocols(sslOf(values)),
    requestCert: client !== 'NONE',
    rejectUnauthorized: client === 'REQUIRED',
  })
}

/** When what listeners show and trust ends. */
export function listenerExpiry(values: RegistryValues): CertificateExpiry {
  return certificateExpiry(sslOf(values))
}

/** How the leader is reached on https: with this instance's own certificate, trusting what its truststore says. */
export function instanceTls(values: RegistryValues): TlsSource<AgentOptions> {
  const anyHost = values['ssl.endpoint.identification.algorithm'] === ''
  return tlsSource(sslOf(values), anyHost ? { checkServerIdentity: () => undefined } : {})
}

function sslOf(values: RegistryValues): SslSettings {
  const ssl = Object.entries(values).filter((entry): entry is [string, string] => entry[0].startsWith('ssl.'))
  return Object.fromEntries(ssl)
}
