import { randomBytes } from 'node:crypto'
import type { AeadCipher } from './aead-cipher.ts'
import { aesGcm } from './aes-gcm.ts'
import { aesSiv } from './aes-siv.ts'
import { EncryptionError } from './encryption-error.ts'
import { parseTinkKey, tinkKeyOf } from './tink-key.ts'

/** The algorithms of data encryption keys (DEKs), by their names in the DEK registry. */
export const DEK_ALGORITHMS = ['AES128_GCM', 'AES256_GCM', 'AES256_SIV'] as const
export type DekAlgorithm = (typeof DEK_ALGORITHMS)[number]

type AlgorithmSpec = {
  readonly keyBytes: number
  /** The number of the field that contains the key in Tink's message for this algorithm. */
  readonly keyField: number
  readonly cipher: (key: Uint8Array) => AeadCipher
}

const SPECS: Readonly<Record<DekAlgorithm, AlgorithmSpec>> = {
  AES128_GCM: { keyBytes: 16, keyField: 3, cipher: aesGcm },
  AES256_GCM: { keyBytes: 32, keyField: 3, cipher: aesGcm },
  AES256_SIV: { keyBytes: 64, keyField: 2, cipher: aesSiv },
}

/** Generates a key in the format that the DEK registry stores encrypted: Tink's `AesGcmKey` or `AesSivKey` message. */
export function generateDek(algorithm: DekAlgorithm): Buffer {
  const { keyBytes, keyField } = SPECS[algorithm]
  return tinkKeyOf(randomBytes(keyBytes), keyField)
}

/** Creates the cipher of a key in the format of `generateDek`. Throws `invalid_dek`; its `decrypt` throws `decryption_failed`. */
export function createDataCipher(algorithm: DekAlgorithm, dek: Uint8Array): AeadCipher {
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
        const message = `cannot decrypt ${ciphertext.length} bytes with this ${algorithm} key: they were encrypted with another key, or are damaged`
        throw new EncryptionError('decryption_failed', message, { cause })
      }
    },
  }
}
