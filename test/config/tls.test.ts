import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCertificates } from '../../src/config/pkcs12.ts'
import { certificateExpiry } from '../../src/config/tls.ts'

const store = (name: string) => readFileSync(join(import.meta.dirname, '../support/tls', name))
const ca = store('ca.pem').toString()

it('finds the CA in the truststore that keytool makes', () => {
  expect(readCertificates(store('trust.p12'), 'changeit')).toEqual([ca])
})

it('finds the certificate beside a private key', () => {
  const [, certificate] = store('server.pem')
    .toString()
    .split(/(?=-----BEGIN CERT)/)
  expect(readCertificates(store('server.p12'), 'changeit')).toEqual([certificate])
})

it.each([
  ['trust.p12', 'wrong', 'the password is wrong'],
  ['trust-legacy.p12', 'changeit', 'no longer secure'],
])('says why %s can not be read with the password %s', (name, password, reason) => {
  expect(() => readCertificates(store(name), password)).toThrow(reason)
})

it('refuses a store that is cut off, wherever it is', () => {
  const whole = store('trust.p12')
  for (let bytes = 0; bytes < whole.length; bytes++) {
    expect(() => readCertificates(whole.subarray(0, bytes), 'changeit')).toThrow()
  }
})

it('tells when the first certificate of a store ends, and nothing of a store that it can not read', () => {
  const endOf = (name: string) => new X509Certificate(store(name)).validToDate.getTime()
  const texts = { 'ssl.keystore.certificate.chain': `${ca}${store('shorter.pem')}`, 'ssl.keystore.key': 'any' }
  expect(endOf('shorter.pem')).toBeLessThan(endOf('ca.pem'))
  expect(certificateExpiry({ ...texts, 'ssl.truststore.certificates': ca })).toEqual({
    keystoreMs: endOf('shorter.pem'),
    truststoreMs: endOf('ca.pem'),
  })
  const location = join(import.meta.dirname, '../support/tls/server.p12')
  expect(certificateExpiry({ 'ssl.keystore.location': location, 'ssl.keystore.password': 'wrong' })).toEqual({
    keystoreMs: undefined,
    truststoreMs: undefined,
  })
})
