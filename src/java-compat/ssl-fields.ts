import type { SecureContextOptions } from 'node:tls'
import { type SslSettings, tlsMaterial } from '../config/tls.ts'
import { type FileAccess, field } from '../sdk/index.ts'

const FIELDS = {
  'truststore.location': field
    .path({ doc: 'Trusted certificates, PEM or PKCS#12. Default: those of the system.' })
    .optional(),
  'truststore.password': field.password({ doc: 'Password of the truststore.' }).optional(),
  'truststore.type': field.text({ doc: 'PEM or PKCS12. Default: detected.', importance: 'LOW' }).optional(),
  'truststore.certificates': field.text({ doc: 'Trusted certificates as PEM text.' }).optional(),
  'keystore.location': field.path({ doc: 'Client certificate and key, PEM or PKCS#12.' }).optional(),
  'keystore.password': field.password({ doc: 'Password of the keystore.' }).optional(),
  'keystore.type': field.text({ doc: 'PEM or PKCS12. Default: detected.', importance: 'LOW' }).optional(),
  'keystore.certificate.chain': field.text({ doc: 'Client certificate as PEM text.', importance: 'LOW' }).optional(),
  'keystore.key': field.password({ doc: 'Key of the client certificate as PEM text.', importance: 'LOW' }).optional(),
  'key.password': field.password({ doc: 'Password of the key in the keystore.' }).optional(),
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
  const written = Object.entries(settings).filter(([key]) => key.startsWith(`${prefix}ssl.`))
  return Object.fromEntries(written.map(([key, value]) => [key.slice(prefix.length), value as string | undefined]))
}
