import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import type { ed25519 as Ed25519 } from '@noble/curves/ed25519.js'

/** Loaded with the first account that uses it: most servers and accounts use other plugins. */
const load = createRequire(import.meta.url)

/**
 * The answer of MariaDB's authentication plugin `client_ed25519`: the signature of the server's nonce. It is Ed25519 as in RFC 8032,
 * but the secret is the password, which has any length, so that the key functions of Node.js do not accept it.
 */
export function signEd25519(password: string, nonce: Buffer): Buffer {
  const { ed25519 } = load('@noble/curves/ed25519.js') as { readonly ed25519: typeof Ed25519 }
  const { Point } = ed25519
  const { Fn } = Point
  const hash = sha512(Buffer.from(password))
  const scalarBytes = hash.subarray(0, 32)
  scalarBytes[0]! &= 248
  scalarBytes[31] = (scalarBytes[31]! & 63) | 64
  const scalar = Fn.create(numberOf(scalarBytes))
  const publicKey = Point.BASE.multiply(scalar).toBytes()
  const r = Fn.create(numberOf(sha512(hash.subarray(32), nonce)))
  const commitment = Point.BASE.multiply(r).toBytes()
  const challenge = Fn.create(numberOf(sha512(commitment, publicKey, nonce)))
  const s = Fn.add(r, Fn.mul(challenge, scalar))
  return Buffer.concat([commitment, Fn.toBytes(s)])
}

function sha512(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Reads a number in little-endian order. */
function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
}
