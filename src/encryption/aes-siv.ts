import { aessiv } from '@noble/ciphers/aes.js'
import type { AeadCipher } from './aead-cipher.ts'

/** Tink passes empty associated data as one component, which RFC 5297 distinguishes from no associated data. */
const NO_ASSOCIATED_DATA = new Uint8Array(0)

/** AES-SIV (RFC 5297), deterministic: equal plaintexts have equal ciphertexts. `key`: 64 bytes. */
export function aesSiv(key: Uint8Array): AeadCipher {
  return {
    encrypt: (plaintext) => Buffer.from(aessiv(key, NO_ASSOCIATED_DATA).encrypt(plaintext)),
    decrypt: (ciphertext) => Buffer.from(aessiv(key, NO_ASSOCIATED_DATA).decrypt(ciphertext)),
  }
}
