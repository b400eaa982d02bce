import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { certificateExpiry } from '../../src/tls/certificate-expiry.ts'

const store = (name: string) => readFileSync(join(import.meta.dirname, '../support/tls', name))
const ca = store('ca.pem').toString()

it('returns the expiry of the first certificate to expire, and undefined for an unreadable store', () => {
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
