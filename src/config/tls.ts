import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { messageOf, UserError } from './errors.ts'
import { loadKeystore, loadTruststore, type ReadFile, type SslSettings } from './keystores.ts'
import { readPkcs12Certificates } from './pkcs12-certificates.ts'

/**
 * Converts Java's `ssl.*` settings to options of `node:tls`. PEM is read from files or from the settings themselves
 * (`ssl.keystore.certificate.chain`, `ssl.keystore.key`, `ssl.truststore.certificates`), PKCS#12 from files. A JKS
 * store is rejected with the command that converts it. Errors are `UserError`s that name the key.
 */
export function tlsMaterial(ssl: SslSettings, read: ReadFile = readAny): SecureContextOptions {
  const material: SecureContextOptions = {
    minVersion: 'TLSv1.2',
    ...loadKeystore(ssl, read),
    ...loadTruststore(ssl, read),
  }
  try {
    createSecureContext(material)
  } catch (error) {
    throw new UserError(
      'invalid_tls',
      `the certificates of ssl.keystore.* and ssl.truststore.* cannot be used: ${messageOf(error)}`,
    )
  }
  return material
}

const readAny: ReadFile = (_key, path) => readFileSync(path)

/** Certificates that may be renewed while a program runs. */
export type TlsSource<Options> = { readonly files: readonly string[]; readonly read: () => Options }

/** The result of `tlsMaterial` with additional fixed options. */
export function tlsSource<More extends object>(
  ssl: SslSettings,
  more: More,
  read: ReadFile = readAny,
): TlsSource<SecureContextOptions & More> {
  return {
    files: [ssl['ssl.keystore.location'], ssl['ssl.truststore.location']].flatMap((file) => file || []),
    read: () => ({ ...tlsMaterial(ssl, read), ...more }),
  }
}

/**
 * Expiry of the first certificate to expire in each store, in ms since the epoch; undefined if there is none or the
 * store cannot be read.
 */
export type CertificateExpiry = { readonly keystoreMs: number | undefined; readonly truststoreMs: number | undefined }

export function certificateExpiry(ssl: SslSettings): CertificateExpiry {
  const { cert, pfx, passphrase = '' } = loadKeystore(ssl, readAny)
  return {
    keystoreMs: earliestExpiry(() => (pfx ? readPkcs12Certificates(pfx as Buffer, passphrase) : [cert])),
    truststoreMs: earliestExpiry(() => [loadTruststore(ssl, readAny).ca]),
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

function earliestExpiry(read: () => readonly unknown[]): number | undefined {
  try {
    const certificates = read().flat().join('\n').match(CERTIFICATE) ?? []
    const endsMs = certificates.map((certificate) => new X509Certificate(certificate).validToDate.getTime())
    return endsMs.length === 0 ? undefined : Math.min(...endsMs)
  } catch {
    return undefined
  }
}
