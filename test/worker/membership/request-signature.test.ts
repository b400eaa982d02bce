import { expect, it } from 'vitest'
import { signatureHeaders, verifySignature } from '../../../src/worker/membership/request-signature.ts'

const KEY = { key: Buffer.alloc(32, 7).toString('base64'), algorithm: 'HmacSHA256', createdMs: 0 }
const BODY = Buffer.from('[{"name":"c"}]')
const ALGORITHMS = ['HmacSHA256']

it('signs the body as Java does: HMAC of the bytes, in base64', () => {
  // RFC 4231, test case 2.
  const jefe = { ...KEY, key: Buffer.from('Jefe').toString('base64') }
  expect(signatureHeaders(jefe, 'HmacSHA256', Buffer.from('what do ya want for nothing?'))).toEqual({
    'x-connect-authorization': Buffer.from(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
      'hex',
    ).toString('base64'),
    'x-connect-request-signature-algorithm': 'HmacSHA256',
  })
})

it('verifies its own signature, also of an empty body', () => {
  for (const body of [BODY, Buffer.alloc(0)]) {
    expect(() => verifySignature(signatureHeaders(KEY, 'HmacSHA256', body), body, KEY, ALGORITHMS)).not.toThrow()
  }
})

it('returns the reason why a signature is invalid', () => {
  const signed = signatureHeaders(KEY, 'HmacSHA256', BODY)
  const code = (attempt: () => void) => {
    try {
      attempt()
    } catch (error) {
      return (error as { code: string }).code
    }
    return undefined
  }
  expect(code(() => verifySignature({}, BODY, KEY, ALGORITHMS))).toBe('unsigned')
  expect(code(() => verifySignature(signed, BODY, KEY, ['HmacSHA512']))).toBe('unsigned')
  expect(code(() => verifySignature(signed, BODY, undefined, ALGORITHMS))).toBe('session_key_unknown')
  expect(code(() => verifySignature(signed, Buffer.from('[]'), KEY, ALGORITHMS))).toBe('signature_wrong')
  const short = { ...signed, 'x-connect-authorization': 'AAAA' }
  expect(code(() => verifySignature(short, BODY, KEY, ALGORITHMS))).toBe('signature_wrong')
})
