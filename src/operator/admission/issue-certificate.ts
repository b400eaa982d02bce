import { createPrivateKey, createPublicKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'

/** PEM: the certificate and key of the webhook, and the authority that callers trust. */
export type ServingCertificate = {
  readonly cert: string
  readonly key: string
  /** Two certificates while one authority replaces another; absent: a publicly trusted authority. */
  readonly ca?: string
}

/** Includes the authority's key, which signs the next certificate. The first certificate of `ca` belongs to it. */
export type IssuedCertificate = Required<ServingCertificate> & { readonly caKey: string }

const DAY_MS = 86_400_000
const AUTHORITY_MS = 3_650 * DAY_MS
const PAIR_MS = 90 * DAY_MS
/** Tolerates clock skew. */
const CLOCK_SKEW_MS = 3_600_000
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/**
 * Issues a certificate for these host names and addresses, and a new authority if there is none or it is due for
 * renewal. The previous authority stays trusted until it expires.
 */
export async function issueCertificate(
  names: readonly string[],
  nowMs: number,
  before?: IssuedCertificate,
): Promise<IssuedCertificate> {
  const known = before !== undefined && !isDueForRenewal(firstOf(before.ca), nowMs) ? before : undefined
  const authority = known ?? (await newAuthority(nowMs))
  const kept = known === undefined ? stillValid(before?.ca ?? '', nowMs) : []
  const { cert, key } = await newPair(authority, names, nowMs)
  return { cert, key, ca: [authority.ca.trimEnd(), ...kept, ''].join('\n'), caKey: authority.caKey }
}

/** Whether a new certificate is needed: two thirds of its validity are over, or the names have changed. */
export function needsRenewal(
  { cert, ca }: Required<ServingCertificate>,
  names: readonly string[],
  nowMs: number,
): boolean {
  const [own, authority] = [new X509Certificate(cert), firstOf(ca)]
  const isFor = (name: string) => (isIP(name) === 0 ? own.checkHost(name) : own.checkIP(name)) !== undefined
  return (
    isDueForRenewal(own, nowMs) ||
    isDueForRenewal(authority, nowMs) ||
    !own.checkIssued(authority) ||
    !names.every(isFor)
  )
}

function isDueForRenewal({ validFromDate, validToDate }: X509Certificate, nowMs: number): boolean {
  const [fromMs, toMs] = [validFromDate.getTime(), validToDate.getTime()]
  return nowMs >= fromMs + ((toMs - fromMs) * 2) / 3
}

function firstOf(bundle: string): X509Certificate {
  return new X509Certificate(bundle)
}

function stillValid(bundle: string, nowMs: number): readonly string[] {
  const certificates = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return certificates.filter((pem) => new X509Certificate(pem).validToDate.getTime() > nowMs)
}

type Authority = Pick<IssuedCertificate, 'ca' | 'caKey'>

async function newAuthority(nowMs: number): Promise<Authority> {
  const x509 = await library()
  const keys = await newKeys()
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=weir webhook authority',
    keys,
    ...lifeOf(AUTHORITY_MS, nowMs),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { ca: made.toString('pem'), caKey: pemOf(keys.privateKey) }
}

async function newPair({ ca, caKey }: Authority, names: readonly string[], nowMs: number) {
  const x509 = await library()
  const keys = await newKeys()
  const authority = new x509.X509Certificate(firstOf(ca).raw)
  const signer = createPrivateKey(caKey)
  const made = await x509.X509CertificateGenerator.create({
    subject: 'CN=weir webhook',
    issuer: authority.subject,
    publicKey: keys.publicKey,
    signingKey: signer.toCryptoKey(ALGORITHM, false, ['sign']),
    ...lifeOf(PAIR_MS, nowMs),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }) as const),
      ),
      await x509.AuthorityKeyIdentifierExtension.create(
        createPublicKey(signer).toCryptoKey(ALGORITHM, true, ['verify']),
      ),
    ],
  })
  return { cert: made.toString('pem'), key: pemOf(keys.privateKey) }
}

/** Loaded on demand: the library takes a quarter of a second and 20 MB. */
async function library() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

function pemOf(key: webcrypto.CryptoKey): string {
  return String(KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }))
}

function lifeOf(lastsMs: number, nowMs: number) {
  return { notBefore: new Date(nowMs - CLOCK_SKEW_MS), notAfter: new Date(nowMs + lastsMs) }
}
