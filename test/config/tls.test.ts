import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { certificatesOf } from '../../src/config/pkcs12.ts'

const store = (name: string) => readFileSync(join(import.meta.dirname, '../support/tls', name))
const ca = store('ca.pem').toString()

it('finds the CA in the truststore that keytool makes', () => {
  expect(certificatesOf(store('trust.p12'), 'changeit')).toEqual([ca])
})

it('finds the certificate beside a private key', () => {
  const [, certificate] = store('server.pem')
    .toString()
    .split(/(?=-----BEGIN CERT)/)
  expect(certificatesOf(store('server.p12'), 'changeit')).toEqual([certificate])
})

it.each([
  ['trust.p12', 'wrong', 'the password is wrong'],
  ['trust-legacy.p12', 'changeit', 'no longer secure'],
])('says why %s can not be read with the password %s', (name, password, reason) => {
  expect(() => certificatesOf(store(name), password)).toThrow(reason)
})

it('refuses a store that is cut off, wherever it is', () => {
  const whole = store('trust.p12')
  for (let bytes = 0; bytes < whole.length; bytes++) {
    expect(() => certificatesOf(whole.subarray(0, bytes), 'changeit')).toThrow()
  }
})
