import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { AeadCipher } from './aead-cipher.ts'

const IV_BYTES = 12
const TAG_BYTES = 16

/** AES-GCM with Tink's layout: the IV (12 bytes, random), the ciphertext, the tag (16 bytes). `key`: 16 or 32 bytes. */
export function aesGcm(key: Uint8Array): AeadCipher {
  const algorithm = key.length === 16 ? 'aes-128-gcm' : 'aes-256-gcm'
  return {
    encrypt(plaintext) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(algorithm, key, iv, { authTagLength: TAG_BYTES })
      return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
    },
    decrypt(ciphertext) {
      if (ciphertext.length < IV_BYTES + TAG_BYTES) throw new RangeError('the ciphertext is too short')
      const iv = ciphertext.subarray(0, IV_BYTES)
      const tagStart = ciphertext.length - TAG_BYTES
      const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: TAG_BYTES })
      decipher.setAuthTag(ciphertext.subarray(tagStart))
      return Buffer.concat([decipher.update(ciphertext.subarray(IV_BYTES, tagStart)), decipher.final()])
    },
  }
}
