import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { messageOf, UserError } from '../common/errors.ts'
import { loadKeystore, loadTruststore, type ReadFile, readAnyFile, type SslSettings } from './keystores.ts'

/**
 * Converts Java's `ssl.*` settings to options of `node:tls`. PEM is read from files or from the settings themselves
 * (`ssl.keystore.certificate.chain`, `ssl.keystore.key`, `ssl.truststore.certificates`), PKCS#12 from files. A JKS
 * store is rejected with the command that converts it. Errors are `UserError`s that name the key.
 */
export function tlsMaterial(ssl: SslSettings, read: ReadFile = readAnyFile): SecureContextOptions {
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

/** Certificates that may be renewed while a program runs. */
export type TlsSource<Options> = { readonly files: readonly string[]; readonly read: () => Options }

/** The result of `tlsMaterial` with additional fixed options. */
export function tlsSource<More extends object>(
  ssl: SslSettings,
  more: More,
  read: ReadFile = readAnyFile,
): TlsSource<SecureContextOptions & More> {
  return {
    files: [ssl['ssl.keystore.location'], ssl['ssl.truststore.location']].flatMap((file) => file || []),
    read: () => ({ ...tlsMaterial(ssl, read), ...more }),
  }
}
