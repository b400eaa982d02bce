import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { basic } from '../http/authorization.ts'

/** Authenticates senders. `beforeBody` rejects requests without credentials; `withBody` rejects wrong signatures. */
export type Authenticator = {
  readonly beforeBody: (headers: IncomingHttpHeaders) => boolean
  readonly withBody: (headers: IncomingHttpHeaders, body: Buffer) => boolean
  /** Value for the `WWW-Authenticate` header; undefined if there is none. */
  readonly scheme: string | undefined
}

const always = () => true

export const NO_AUTHENTICATION: Authenticator = { beforeBody: always, withBody: always, scheme: undefined }

export function basicAuthenticator(user: string, password: string): Authenticator {
  const expected = basic(user, password)
  return {
    beforeBody: ({ authorization = '' }) => isSame(authorization, expected),
    withBody: always,
    scheme: 'Basic realm="webhook"',
  }
}

export function bearerAuthenticator(token: string): Authenticator {
  return {
    beforeBody: ({ authorization = '' }) => isSame(authorization, `Bearer ${token}`),
    withBody: always,
    scheme: 'Bearer',
  }
}

export type Signature = {
  readonly secret: string
  /** Header name in lower case. */
  readonly header: string
  readonly algorithm: 'sha1' | 'sha256' | 'sha512'
  readonly encoding: 'hex' | 'base64'
  /** Text that precedes the signature in the header. */
  readonly prefix: string
}

/** Verifies an HMAC of the body that is sent in a header. */
export function signatureAuthenticator({ secret, header, algorithm, encoding, prefix }: Signature): Authenticator {
  return {
    beforeBody: (headers) => headers[header] !== undefined,
    withBody: (headers, body) => {
      const expected = `${prefix}${createHmac(algorithm, secret).update(body).digest(encoding)}`
      return isSame(String(headers[header]), expected)
    },
    scheme: undefined,
  }
}

/** Compares in constant time. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
