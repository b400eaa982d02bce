import { X509Certificate } from 'node:crypto'
import { loadKeystore, loadTruststore, readAnyFile, type SslSettings } from './keystores.ts'
import { readPkcs12Certificates } from './pkcs12-certificates.ts'

/**
 * Expiry of the first certificate to expire in each store, in ms since the epoch; undefined if there is none or the
 * store cannot be read.
 */
export type CertificateExpiry = { readonly keystoreMs: number | undefined; readonly truststoreMs: number | undefined }

export function certificateExpiry(ssl: SslSettings): CertificateExpiry {
  const { cert, pfx, passphrase = '' } = loadKeystore(ssl, readAnyFile)
  return {
    keystoreMs: earliestExpiry(() => (pfx ? readPkcs12Certificates(pfx as Buffer, passphrase) : [cert])),
    truststoreMs: earliestExpiry(() => [loadTruststore(ssl, readAnyFile).ca]),
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
