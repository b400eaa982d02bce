import { createRequire } from 'node:module'
import type mysql from 'mysql2'
import { readTls } from '../../../java-compat/connector-tls.ts'
import type { HostAccess } from '../../../sdk/index.ts'
import { DatabaseError } from '../jdbc/database-error.ts'
import { TIMER_MS_MAX } from '../jdbc/pause.ts'
import { signEd25519 } from './client-ed25519.ts'
import type { MysqlSslMode, MysqlUrl } from './connection-url.ts'

const load = createRequire(import.meta.url)

/** Who connects. */
export type ClientLogin = {
  readonly url: MysqlUrl
  readonly user: string | undefined
  readonly password: string | undefined
  /** Shown in `performance_schema.session_connect_attrs`. */
  readonly applicationName: string
}

/** Options of the client library, apart from the server. `isSecure`: whether the connection has TLS or does not leave this machine. */
export function clientOptions(
  { url, user, password, applicationName }: ClientLogin,
  isSecure: boolean,
): mysql.ConnectionOptions {
  const name = user ?? url.user
  const secret = password ?? url.password
  return {
    ...(name !== undefined && { user: name }),
    ...(secret !== undefined && { password: secret }),
    ...(url.database !== undefined && { database: url.database }),
    charset: 'utf8mb4',
    connectTimeout: Math.min(url.connectTimeoutMs, TIMER_MS_MAX),
    // A server must not read files of this machine. Found rows count, whether or not they are changed.
    flags: ['-LOCAL_FILES', 'FOUND_ROWS'],
    connectAttributes: { program_name: applicationName },
    typeCast: textOfField,
    trace: false,
    enableCleartextPlugin: isSecure,
    authPlugins: authPlugins(secret ?? '', isSecure || url.allowsPublicKeyRetrieval),
  }
}

/** Binary data, numbers and times arrive in the encoding `binary`, in which each byte is one character. */
function textOfField(field: { readonly type: string; string(encoding?: string): string | null }): string | null {
  return field.type === 'JSON' ? field.string('utf8') : field.string()
}

/** The plugins that the client library does not have, and one that it would use without a check. */
function authPlugins(
  password: string,
  allowsPublicKeyRetrieval: boolean,
): NonNullable<mysql.ConnectionOptions['authPlugins']> {
  const { authPlugins: standard } = load('mysql2') as typeof mysql
  return {
    client_ed25519: () => (nonce) => signEd25519(password, nonce.subarray(0, 32)),
    caching_sha2_password: (metadata) => {
      const plugin = standard.caching_sha2_password()(metadata)
      return async (data) => {
        const answer = await plugin(data)
        if (allowsPublicKeyRetrieval || !isKeyRequest(answer)) return answer as Buffer
        throw new Error(
          'the server needs the password, which is not sent over a connection without TLS: set sslMode=REQUIRED in ' +
            'connection.url, or allowPublicKeyRetrieval=true to encrypt it with a key that the server sends unverified',
        )
      }
    },
  }
}

/** The client asks for the key of the server by a single byte. */
function isKeyRequest(answer: Buffer | string | null): boolean {
  return answer instanceof Buffer && answer.length === 1 && answer[0] === 2
}

/** Returns the TLS options to try in order: `prefer` falls back to a connection without TLS. */
export function sslAttempts(url: MysqlUrl, access: HostAccess): readonly (false | mysql.SslOptions)[] {
  if (url.sslMode === 'disable') return [false]
  const attempts: Readonly<Record<Exclude<MysqlSslMode, 'disable'>, readonly (false | mysql.SslOptions)[]>> = {
    prefer: [{ rejectUnauthorized: false }, false],
    require: [{ rejectUnauthorized: false }],
    'verify-ca': [{ rejectUnauthorized: true }],
    'verify-full': [{ rejectUnauthorized: true, verifyIdentity: true }],
  }
  const certificates = readCertificates(url, access)
  return attempts[url.sslMode].map((ssl) => (ssl === false ? false : { ...ssl, ...certificates }))
}

/** Called for each connection, so that renewed certificates are used. */
function readCertificates({ certificates }: MysqlUrl, { files }: HostAccess): mysql.SslOptions {
  if (Object.keys(certificates).length === 0) return {}
  try {
    const { pfx, ...material } = readTls('', certificates, files)
    if (pfx === undefined) return material as mysql.SslOptions
    throw new Error('the client certificate must be a PEM file with its private key, not a PKCS#12 store')
  } catch (cause) {
    const message = `could not read the certificates of connection.url: ${(cause as Error).message}`
    throw new DatabaseError(message, { cause, isTransient: false })
  }
}
