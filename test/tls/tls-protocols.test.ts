import { describe, expect, it } from 'vitest'
import { listenerProtocols } from '../../src/tls/tls-protocols.ts'

describe('protocols of a TLS listener', () => {
  it('have forward secrecy and authenticated encryption by default', () => {
    const { ciphers = '', minVersion } = listenerProtocols({})
    const suites = ciphers.split(':')
    expect(suites.filter((suite) => !/^(TLS_|ECDHE-|DHE-)/.test(suite) || !/GCM|POLY1305/.test(suite))).toEqual([])
    expect(minVersion).toBe('TLSv1.2')
  })

  it.each([
    ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
    ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
    ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
    ['TLS_AES_256_GCM_SHA384', 'TLS_AES_256_GCM_SHA384'],
    ['ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ])('map the cipher suite %s to %s', (name, cipher) => {
    expect(listenerProtocols({ 'ssl.cipher.suites': ` ${name} ` }).ciphers).toBe(cipher)
  })

  it.each([
    ['TLSv1.3', 'TLSv1.3', 'TLSv1.3'],
    ['TLSv1.2,TLSv1.1,TLSv1', 'TLSv1.2', 'TLSv1.2'],
    ['TLSv1.3,TLSv1.2', 'TLSv1.2', 'TLSv1.3'],
  ])('accept ssl.enabled.protocols=%s', (protocols, minVersion, maxVersion) => {
    expect(listenerProtocols({ 'ssl.enabled.protocols': protocols })).toMatchObject({ minVersion, maxVersion })
  })

  it.each([
    [{ 'ssl.enabled.protocols': 'TLSv1.1' }, 'ssl.enabled.protocols=TLSv1.1: expected TLSv1.2, TLSv1.3'],
    [{ 'ssl.cipher.suites': 'TLS_NONE' }, "ssl.cipher.suites: 'TLS_NONE' is not supported"],
  ])('reject %j', (ssl, message) => {
    expect(() => listenerProtocols(ssl)).toThrow(message)
  })
})
