import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readPkcs12Certificates } from '../../src/tls/pkcs12-certificates.ts'

const store = (name: string) => readFileSync(join(import.meta.dirname, '../support/tls', name))
const ca = store('ca.pem').toString()

it.each([
  ['encrypted with AES', 'trust.p12'],
  ['not encrypted', 'trust-unencrypted.p12'],
])('reads the CA of a truststore made by keytool, %s', (_, name) => {
  expect(readPkcs12Certificates(store(name), 'changeit')).toEqual([ca])
})

it('reads the certificate of a store with a private key', () => {
  const [, certificate] = store('server.pem')
    .toString()
    .split(/(?=-----BEGIN CERT)/)
  expect(readPkcs12Certificates(store('server.p12'), 'changeit')).toEqual([certificate])
})

it.each([
  ['trust.p12', 'wrong', 'the password is wrong'],
  ['trust-legacy.p12', 'changeit', 'its encryption (1.2.840.113549.1.12.1.6) is not supported: create the store with'],
  [
    'trust-keytool-legacy.p12',
    'changeit',
    'its encryption (1.2.840.113549.1.12.1.6) is not supported: create the store with',
  ],
])('explains why %s cannot be read with the password %s', (name, password, reason) => {
  expect(() => readPkcs12Certificates(store(name), password)).toThrow(reason)
})

it('rejects a store that is truncated at any byte', { tags: ['slow'] }, () => {
  const whole = store('trust.p12')
  for (let bytes = 0; bytes < whole.length; bytes++) {
    expect(() => readPkcs12Certificates(whole.subarray(0, bytes), 'changeit')).toThrow()
  }
})
