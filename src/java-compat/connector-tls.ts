import type { SecureContextOptions } from 'node:tls'
import { type FileAccess, field } from '../sdk/index.ts'
import type { SslSettings } from '../tls/keystores.ts'
import { tlsMaterial } from '../tls/tls-material.ts'

const FIELDS = {
  'truststore.location': field
    .path({ doc: 'File with trusted certificates, in PEM or PKCS#12 format. Default: the certificates of the system.' })
    .optional(),
  'truststore.password': field.password({ doc: 'Password of the truststore.' }).optional(),
  'truststore.type': field
    .text({ doc: 'Format of the truststore: PEM or PKCS12. Default: detected from the content.', importance: 'LOW' })
    .optional(),
  'truststore.certificates': field.text({ doc: 'Trusted certificates in PEM format, instead of a file.' }).optional(),
  'keystore.location': field
    .path({ doc: 'File with the certificate and private key, in PEM or PKCS#12 format.' })
    .optional(),
  'keystore.password': field.password({ doc: 'Password of the keystore.' }).optional(),
  'keystore.type': field
    .text({ doc: 'Format of the keystore: PEM or PKCS12. Default: detected from the content.', importance: 'LOW' })
    .optional(),
  'keystore.certificate.chain': field
    .text({ doc: 'Certificate chain in PEM format, instead of a file.', importance: 'LOW' })
    .optional(),
  'keystore.key': field
    .password({ doc: 'Private key in PEM format, instead of a file.', importance: 'LOW' })
    .optional(),
  'key.password': field.password({ doc: 'Password of the private key.' }).optional(),
} as const

type Prefixed<Prefix extends string> = {
  readonly [Key in keyof typeof FIELDS as `${Prefix}ssl.${Key}`]: (typeof FIELDS)[Key]
}

/** Java's `ssl.*` keys for certificates, with a prefix such as `https.`. A JKS store is rejected when it is read. */
export function sslFields<Prefix extends string>(prefix: Prefix): Prefixed<Prefix> {
  const named = Object.entries(FIELDS).map(([key, one]) => [`${prefix}ssl.${key}`, one])
  return Object.fromEntries(named) as Prefixed<Prefix>
}

/**
 * Reads the certificates that these keys refer to, as options for `node:tls`. Throws a `UserError` that names the key.
 */
export function readTls(
  prefix: string,
  settings: Readonly<Record<string, unknown>>,
  files: FileAccess,
): SecureContextOptions {
  return tlsMaterial(sslSettings(prefix, settings), (_key, path) => files.readFileSync(path))
}

/** Returns the values of these keys without the prefix. */
export function sslSettings(prefix: string, settings: Readonly<Record<string, unknown>>): SslSettings {
  const entries = Object.entries(settings).filter(([key]) => key.startsWith(`${prefix}ssl.`))
  return Object.fromEntries(entries.map(([key, value]) => [key.slice(prefix.length), value as string | undefined]))
}
