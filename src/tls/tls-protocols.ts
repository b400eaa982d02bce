import { getCiphers, type SecureContextOptions } from 'node:tls'
import { UserError } from '../common/errors.ts'
import { commaSeparated } from '../config/settings.ts'
import type { SslSettings } from './keystores.ts'

/** TLS 1.2 cipher suites with forward secrecy and authenticated encryption, and all suites of TLS 1.3. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'DHE-RSA-AES128-GCM-SHA256',
  'DHE-RSA-AES256-GCM-SHA384',
]
const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const

/**
 * TLS versions and cipher suites of a listener, from Java's settings `ssl.enabled.protocols` and `ssl.cipher.suites`;
 * suites have their Java or OpenSSL names.
 */
export function listenerProtocols(ssl: SslSettings): SecureContextOptions {
  return {
    ...versionsOf(ssl['ssl.enabled.protocols']),
    ciphers: ciphersOf(ssl['ssl.cipher.suites']).join(':'),
    honorCipherOrder: true,
  }
}

/** The same for a client: what is not set is left to Node.js. */
export function clientProtocols(ssl: SslSettings): SecureContextOptions {
  const suites = ssl['ssl.cipher.suites']
  return {
    ...versionsOf(ssl['ssl.enabled.protocols']),
    ...(suites ? { ciphers: ciphersOf(suites).join(':') } : {}),
  }
}

/** Older versions are ignored, as in Java, because configurations of old clusters list them. */
function versionsOf(list = ''): Pick<SecureContextOptions, 'minVersion' | 'maxVersion'> {
  const named = commaSeparated(list)
  if (named.length === 0) return { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' }
  const [first, second] = VERSIONS.filter((version) => named.includes(version))
  if (first === undefined) {
    throw new UserError('invalid_tls', `ssl.enabled.protocols=${list}: expected ${VERSIONS.join(', ')} or one of them`)
  }
  return { minVersion: first, maxVersion: second ?? first }
}

function ciphersOf(list = ''): readonly string[] {
  const named = commaSeparated(list.replaceAll(':', ','))
  if (named.length === 0) return CIPHERS
  const known = new Set(getCiphers())
  return named.map((name) => {
    const cipher = openSslName(name)
    if (known.has(cipher.toLowerCase())) return cipher
    throw new UserError(
      'invalid_tls',
      `ssl.cipher.suites: '${name}' is not supported; expected names such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`,
    )
  })
}

/**
 * Converts `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` to `ECDHE-RSA-AES128-GCM-SHA256`; TLS 1.3 suites have one name only.
 */
function openSslName(name: string): string {
  const [exchange, cipher] = name.replace(/^(?:TLS|SSL)_/, '').split('_WITH_')
  if (exchange === undefined || cipher === undefined) return name
  const short = cipher
    .replace(/^AES_(\d+)_CBC_/, 'AES$1_')
    .replace(/^AES_(\d+)_/, 'AES$1_')
    .replace(/^(CHACHA20_POLY1305)_SHA256$/, '$1')
    .replaceAll('_', '-')
  return exchange === 'RSA' ? short : `${exchange.replaceAll('_', '-')}-${short}`
}
