import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError, ignoreNotFound, type KubernetesApi } from '../../clients/kubernetes/kubernetes-api.ts'
import type { Clock } from '../../common/clock.ts'
import { type IssuedCertificate, issueCertificate, needsRenewal, type ServingCertificate } from './issue-certificate.ts'

/**
 * Provides the webhook's certificate. Called repeatedly: the certificate may change. `webhook-configuration.ts` gives its CA
 * to the API server.
 */
export type CertificateSource = () => Promise<ServingCertificate>

/** Reads a directory in the layout of a mounted cert-manager Secret: `tls.crt`, `tls.key`, and optionally `ca.crt`. */
export function certificatesFromFiles(directory: string): CertificateSource {
  const read = (name: string) => readFile(join(directory, name), 'utf8')
  return async () => {
    const [cert, key, ca] = await Promise.all([read('tls.crt'), read('tls.key'), read('ca.crt').catch(() => undefined)])
    return { cert, key, ...(ca !== undefined && { ca }) }
  }
}

export type CertificateSecretOptions = {
  readonly api: Pick<KubernetesApi, 'send'>
  readonly namespace: string
  readonly name: string
  /** Subject alternative names of the certificate: host names and IP addresses. */
  readonly subjectAltNames: readonly string[]
  readonly clock: Clock
}

type Secret = {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion?: string }
  readonly data: Readonly<Record<string, string>>
}

const KEYS = { cert: 'tls.crt', key: 'tls.key', ca: 'ca.crt', caKey: 'ca.key' } as const
const TRIES_MAX = 5

/**
 * A certificate that the operator issues, keeps in a Secret for all replicas, and renews before it expires. When
 * replicas write at the same time, the first one wins and the others read its result.
 */
export function certificatesFromSecret({
  api,
  namespace,
  name,
  subjectAltNames,
  clock,
}: CertificateSecretOptions): CertificateSource {
  const secrets = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`
  const path = `${secrets}/${encodeURIComponent(name)}`

  const write = async (issued: IssuedCertificate, found: Secret | undefined): Promise<void> => {
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...found?.metadata, namespace, name },
      data: toData(issued),
    }
    await (found === undefined
      ? api.send({ method: 'POST', path: secrets, body })
      : api.send({ method: 'PUT', path, body }))
  }

  return async () => {
    for (let tries = 1; ; tries++) {
      const found = await ignoreNotFound(api.send<Secret>({ method: 'GET', path }))
      const before = found && fromData(found.data)
      const nowMs = clock.nowMs()
      if (before !== undefined && !needsRenewal(before, subjectAltNames, nowMs)) return before
      const issued = await issueCertificate(subjectAltNames, nowMs, before)
      try {
        await write(issued, found)
        return issued
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409 || tries === TRIES_MAX) throw error
      }
    }
  }
}

function toData(issued: IssuedCertificate): Secret['data'] {
  const entries = Object.entries(KEYS) as [keyof IssuedCertificate, string][]
  return Object.fromEntries(entries.map(([field, key]) => [key, Buffer.from(issued[field]).toString('base64')]))
}

/** Undefined when the Secret does not contain a certificate of the operator. */
function fromData(data: Secret['data'] = {}): IssuedCertificate | undefined {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString()
  const issued = { cert: text(KEYS.cert), key: text(KEYS.key), ca: text(KEYS.ca), caKey: text(KEYS.caKey) }
  try {
    for (const pem of [issued.cert, issued.ca]) new X509Certificate(pem)
    for (const pem of [issued.key, issued.caKey]) createPrivateKey(pem)
    return issued
  } catch {
    return undefined
  }
}
