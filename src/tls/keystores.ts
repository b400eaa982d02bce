import { readFileSync } from 'node:fs'
import type { SecureContextOptions } from 'node:tls'
import { messageOf, UserError } from '../common/errors.ts'
import { readPkcs12Certificates } from './pkcs12-certificates.ts'

// Reads Java's keystores and truststores, in PEM or PKCS#12. Errors are `UserError`s that name the key.

/** Java's `ssl.*` settings without a prefix; missing and empty values are not used. */
export type SslSettings = Readonly<Record<string, string | undefined>>

/** Reads the file that a setting names; throws if access is denied. */
export type ReadFile = (key: string, path: string) => Buffer

/** Reads any file: for the settings of administrators, which are not restricted. */
export const readAnyFile: ReadFile = (_key, path) => readFileSync(path)

/** The private key and its certificates as options of `node:tls`; empty if `ssl.keystore.*` is not set. */
export function loadKeystore(ssl: SslSettings, read: ReadFile): SecureContextOptions {
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

/** The trusted certificates as options of `node:tls`; empty if `ssl.truststore.*` is not set. */
export function loadTruststore(ssl: SslSettings, read: ReadFile): SecureContextOptions {
  const certificates = ssl['ssl.truststore.certificates']
  if (certificates) return { ca: certificates }
  const path = ssl['ssl.truststore.location']
  if (!path) return {}
  const store = readStore('ssl.truststore.location', path, ssl['ssl.truststore.type'], read)
  if (store.kind === 'pem') return { ca: store.bytes }
  try {
    return { ca: [...readPkcs12Certificates(store.bytes, ssl['ssl.truststore.password'] ?? '')] }
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
