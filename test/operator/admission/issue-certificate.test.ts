import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import {
  type IssuedCertificate,
  issueCertificate,
  needsRenewal,
} from '../../../src/operator/admission/issue-certificate.ts'
import { tlsOutcome } from '../../support/tls-outcome.ts'

const NAMES = ['weir-webhook.shop.svc', '127.0.0.1']
const DAY_MS = 86_400_000
const NOW_MS = Date.now()

it('issues a certificate that clients accept for each of its names only if they trust its CA', async () => {
  const issued = await issueCertificate(NAMES, NOW_MS)
  const port = await serve(issued)
  const meet = (servername: string, ca: string) => tlsOutcome(port, servername, ca)
  for (const name of NAMES) expect(await meet(name, issued.ca)).toBe('trusted')
  expect(await meet('elsewhere.svc', issued.ca)).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
  const other = await issueCertificate(NAMES, NOW_MS)
  expect(await meet(NAMES[0]!, other.ca)).toMatch(/VERIFY|SIGNATURE|ISSUER/)
})

it('needs renewal after two thirds of 90 days, and when its names change', async () => {
  const issued = await issueCertificate(NAMES, NOW_MS)
  expect(needsRenewal(issued, NAMES, NOW_MS + 59 * DAY_MS)).toBe(false)
  expect(needsRenewal(issued, NAMES, NOW_MS + 60 * DAY_MS)).toBe(true)
  expect(needsRenewal(issued, [...NAMES, 'other.svc'], NOW_MS)).toBe(true)
  expect(needsRenewal({ ...issued, ca: (await issueCertificate(NAMES, NOW_MS)).ca }, NAMES, NOW_MS)).toBe(true)
})

it('renews the certificate with the same CA, and the CA after two thirds of ten years', async () => {
  const first = await issueCertificate(NAMES, NOW_MS)
  const second = await issueCertificate(NAMES, NOW_MS + 60 * DAY_MS, first)
  expect([second.ca, second.caKey]).toEqual([first.ca, first.caKey])
  expect(second.cert).not.toBe(first.cert)

  const laterMs = NOW_MS + 2_434 * DAY_MS
  const third = await issueCertificate(NAMES, laterMs, second)
  expect(third.caKey).not.toBe(first.caKey)
  expect(certificatesIn(third.ca)).toHaveLength(2)
  expect(certificatesIn(third.ca)[1]?.fingerprint256).toBe(new X509Certificate(first.ca).fingerprint256)
  expect(new X509Certificate(third.cert).checkIssued(certificatesIn(third.ca)[0]!)).toBe(true)

  // An expired authority is no longer trusted.
  const last = await issueCertificate(NAMES, laterMs + 2_434 * DAY_MS, third)
  expect(certificatesIn(last.ca)).toHaveLength(2)
  expect(certificatesIn(last.ca)[1]?.fingerprint256).toBe(certificatesIn(third.ca)[0]?.fingerprint256)
})

function certificatesIn(bundle: string): readonly X509Certificate[] {
  return bundle
    .split(/(?<=END CERTIFICATE-----)\n/)
    .flatMap((pem) => (pem.trim() === '' ? [] : [new X509Certificate(pem)]))
}

async function serve({ cert, key }: IssuedCertificate): Promise<number> {
  const server = createServer({ cert, key }, (_, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
