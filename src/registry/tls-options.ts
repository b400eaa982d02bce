import type { ServerOptions } from 'node:https'
import type { ClientTls } from '../common/http-agent.ts'
import { type CertificateExpiry, certificateExpiry } from '../tls/certificate-expiry.ts'
import type { SslSettings } from '../tls/keystores.ts'
import { type TlsSource, tlsSource } from '../tls/tls-material.ts'
import { listenerProtocols } from '../tls/tls-protocols.ts'
import type { RegistryValues } from './settings.ts'

/**
 * The TLS options of https listeners, including client authentication. Undefined if there is no https listener or no
 * certificate is configured.
 */
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

/** When the certificates in the keystore and the truststore of the listeners expire. */
export function listenerExpiry(values: RegistryValues): CertificateExpiry {
  return certificateExpiry(sslOf(values))
}

/** The TLS options for requests to the leader: the client certificate of this instance and its truststore. */
export function instanceTls(values: RegistryValues): TlsSource<ClientTls> {
  const anyHost = values['ssl.endpoint.identification.algorithm'] === ''
  return tlsSource(sslOf(values), anyHost ? { checkServerIdentity: () => undefined } : {})
}

function sslOf(values: RegistryValues): SslSettings {
  const ssl = Object.entries(values).filter((entry): entry is [string, string] => entry[0].startsWith('ssl.'))
  return Object.fromEntries(ssl)
}
