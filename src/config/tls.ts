import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { messageOf, UserError } from './errors.ts'
import { readCertificates } from './pkcs12.ts'

/** Java's `ssl.*` settings without a prefix; missing and empty values are not used. */
export type SslSettings = Readonly<Record<string, string | undefined>>

/**
 * Converts Java's `ssl.*` settings to options of `node:tls`. PEM is read from files or from the settings themselves
 * (`ssl.keystore.certificate.chain`, `ssl.keystore.key`, `ssl.truststore.certificates`), PKCS#12 from files. A JKS
 * store is rejected with the command that converts it. Errors are `UserError`s that name the key.
 */
export function tlsMaterial(ssl: SslSettings, read: ReadFile = readAny): SecureContextOptions {
  const material: SecureContextOptions = { minVersion: 'TLSv1.2', ...identity(ssl, read), ...trusted(ssl, read) }
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

/** Reads the file that a setting names; throws if access is denied. */
export type ReadFile = (key: string, path: string) => Buffer

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
  const { cert, pfx, passphrase = '' } = identity(ssl, readAny)
  return {
    keystoreMs: firstEnd(() => (pfx ? readCertificates(pfx as Buffer, passphrase) : [cert])),
    truststoreMs: firstEnd(() => [trusted(ssl, readAny).ca]),
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

function firstEnd(read: () => readonly unknown[]): number | undefined {
  try {
    const certificates = read().flat().join('\n').match(CERTIFICATE) ?? []
    const endsMs = certificates.map((certificate) => new X509Certificate(certificate).validToDate.getTime())
    return endsMs.length === 0 ? undefined : Math.min(...endsMs)
  } catch {
    return undefined
  }
}

function identity(ssl: SslSettings, read: ReadFile): SecureContextOptions {
  const passphrase = ssl['ssl.key.password'] || ssl['ssl.keystore.password']
  const withPassphrase = passphrase ? { passphrase } : {}
  const chain = ssl['ssl.keystore.certificate.chain']
  const key = ssl['ssl.keystore.key']
  if (chain && key) return { cert: chain, key, ...withPassphrase }
  const path = ssl['ssl.keystore.location']
  if (!path) return {}
  const store = readStore('ssl.keystore.location', path, ssl['ssl.keystore.type'], read)
  if (store.kind === 'pem') return { cert: store.bytes, key: store.bytes, ...withPassphrase }
  // A PKCS#12 store has a single password: the key password must equal the store password.
  const password = ssl['ssl.keystore.password']
  return { pfx: store.bytes, ...(password ? { passphrase: password } : {}) }
}

function trusted(ssl: SslSettings, read: ReadFile): SecureContextOptions {
  const certificates = ssl['ssl.truststore.certificates']
  if (certificates) return { ca: certificates }
  const path = ssl['ssl.truststore.location']
  if (!path) return {}
  const store = readStore('ssl.truststore.location', path, ssl['ssl.truststore.type'], read)
  if (store.kind === 'pem') return { ca: store.bytes }
  try {
    return { ca: [...readCertificates(store.bytes, ssl['ssl.truststore.password'] ?? '')] }
  } catch (error) {
    throw new UserError(
      'invalid_tls',
      `ssl.truststore.location=${path} cannot be read: ${messageOf(error)}; expected ssl.truststore.password for it, or PEM, as made by: openssl pkcs12 -legacy -in ${path} -nokeys -out truststore.pem`,
    )
  }
}

type Store = { readonly kind: 'pem' | 'pkcs12'; readonly bytes: Buffer }

function readStore(key: string, path: string, type: string | undefined, read: ReadFile): Store {
  let bytes: Buffer
  try {
    bytes = read(key, path)
  } catch (error) {
    throw new UserError('invalid_tls', `${key}=${path}: ${messageOf(error)}`)
  }
  const kind = kindOf(bytes)
  if (kind === 'jks') {
    throw new UserError(
      'invalid_tls',
      `${key}=${path} is a JKS store, which only Java reads; convert it with: keytool -importkeystore -srckeystore ${path} -destkeystore store.p12 -deststoretype PKCS12`,
    )
  }
  if (kind === undefined) {
    throw new UserError(
      'invalid_tls',
      `${key}=${path} is neither PEM nor PKCS#12${type ? ` (ssl.*.type says ${type})` : ''}`,
    )
  }
  return { kind, bytes }
}

/** Detected by content, because the configured type is often wrong. */
function kindOf(bytes: Buffer): Store['kind'] | 'jks' | undefined {
  if (bytes.length >= 4 && (bytes.readUInt32BE(0) === 0xfeedfeed || bytes.readUInt32BE(0) === 0xcececece)) return 'jks'
  if (bytes.includes('-----BEGIN ')) return 'pem'
  return bytes[0] === 0x30 ? 'pkcs12' : undefined
}
