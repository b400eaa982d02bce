import { constants, createHash, publicEncrypt } from 'node:crypto'
import { signEd25519 } from '../client-ed25519.ts'

/** How an account proves its password. */
export type PasswordUse = {
  readonly password: string
  /** Whether the connection is encrypted or does not leave this machine. */
  readonly isSecure: boolean
  /** Whether a key that the server sends unverified may encrypt the password. */
  readonly allowsPublicKeyRetrieval: boolean
}

/** The length of a nonce, without the zero byte that follows it. */
const NONCE_BYTES = 20

/** The first answer to an authentication plugin of the server. Throws for one that is not supported. */
export function firstAnswer(plugin: string, nonce: Buffer, use: PasswordUse): Buffer {
  const { password, isSecure } = use
  const challenge = nonce.subarray(0, NONCE_BYTES)
  switch (plugin) {
    case 'mysql_native_password':
      return password === '' ? Buffer.alloc(0) : scramble('sha1', password, challenge, true)
    case 'caching_sha2_password':
      return password === '' ? Buffer.alloc(0) : scramble('sha256', password, challenge, false)
    case 'sha256_password':
      return password === '' ? Buffer.alloc(1) : isSecure ? plainText(password) : Buffer.from([1])
    case 'client_ed25519':
      return signEd25519(password, nonce.subarray(0, 32))
    case 'mysql_clear_password':
      if (isSecure) return plainText(password)
      throw new Error('the account needs its password in clear text, which is sent over TLS only')
    default:
      throw new Error(`the authentication plugin ${plugin} of the account is not supported`)
  }
}

/** A password as the protocol sends it in clear text. */
export function plainText(password: string): Buffer {
  return Buffer.from(`${password}\0`)
}

/** The password, encrypted with the public key of the server. */
export function encryptedPassword(password: string, nonce: Buffer, key: string): Buffer {
  const text = plainText(password)
  for (const index of text.keys()) text[index]! ^= nonce[index % NONCE_BYTES]!
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING }, text)
}

function scramble(algorithm: string, password: string, nonce: Buffer, isNonceFirst: boolean): Buffer {
  const hash = (...parts: readonly Uint8Array[]) => {
    const created = createHash(algorithm)
    for (const part of parts) created.update(part)
    return created.digest()
  }
  const secret = hash(Buffer.from(password))
  const twice = hash(secret)
  const mask = isNonceFirst ? hash(nonce, twice) : hash(twice, nonce)
  return Buffer.from(secret.map((byte, index) => byte ^ mask[index]!))
}
