import { randomBytes } from 'node:crypto'
import type { AeadCipher } from './aead-cipher.ts'
import { aesGcm } from './aes-gcm.ts'
import { aesSiv } from './aes-siv.ts'
import { EncryptionError } from './error.ts'
import { parseTinkKey, tinkKeyOf } from './tink-key.ts'

/** The algorithms of data encryption keys (DEKs), by their names in the DEK registry. */
export const DEK_ALGORITHMS = ['AES128_GCM', 'AES256_GCM', 'AES256_SIV'] as const
export type DekAlgorithm = (typeof DEK_ALGORITHMS)[number]

type AlgorithmSpec = {
  readonly keyBytes: number
  /** The number of the field that holds the key in Tink's message for this kind of key. */
  readonly keyField: number
  readonly cipher: (key: Uint8Array) => AeadCipher
}

const SPECS: Readonly<Record<DekAlgorithm, AlgorithmSpec>> = {
  AES128_GCM: { keyBytes: 16, keyField: 3, cipher: aesGcm },
  AES256_GCM: { keyBytes: 32, keyField: 3, cipher: aesGcm },
  AES256_SIV: { keyBytes: 64, keyField: 2, cipher: aesSiv },
}

/** A new key in the form that the DEK registry stores wrapped: Tink's `AesGcmKey` or `AesSivKey` message. */
export function generateDek(algorithm: DekAlgorithm): Buffer {
  const { keyBytes, keyField } = SPECS[algorithm]
  return tinkKeyOf(randomBytes(keyBytes), keyField)
}

/** The cipher of a key as `generateDek` makes it. Throws `invalid_dek`; its `decrypt` throws `decryption_failed`. */
export function createDekCipher(algorithm: DekAlgorithm, dek: Uint8Array): AeadCipher {
  const { keyBytes, keyField, cipher } = SPECS[algorithm]
  const key = parseTinkKey(dek, keyField)
  if (key.length !== keyBytes) {
    throw new EncryptionError(
      'invalid_dek',
      `the key material has ${key.length} bytes, but a key of ${algorithm} has ${keyBytes}`,
    )
  }
  const { encrypt, decrypt } = cipher(key)
  return {
    encrypt,
    decrypt(ciphertext) {
      try {
        return decrypt(ciphertext)
      } catch (cause) {
        const message = `${ciphertext.length} bytes are no ciphertext of this ${algorithm} key: they were written with another key, or damaged`
        throw new EncryptionError('decryption_failed', message, { cause })
      }
    },
  }
}
