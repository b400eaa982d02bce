import { hkdfSync } from 'node:crypto'
import type { AeadCipher } from './aead-cipher.ts'
import { aesGcm } from './aes-gcm.ts'
import { EncryptionError } from './encryption-error.ts'
import type { Kms, KmsDriver } from './kms.ts'

/** The key length of AES-128-GCM, which Confluent's clients use. Secrets can have any length. */
const KEY_BYTES = 16

/**
 * A KMS for development, without a server. Its only key is derived from a secret and used for every key ID. The secret is
 * the parameter `secret` or the variable LOCAL_SECRET. Comma-separated old secrets, which only decrypt, are in
 * `old.secrets` or LOCAL_OLD_SECRETS. The properties of a KEK are ignored, so that the registry cannot choose the secret.
 */
export function localKmsDriver(environment: Readonly<Record<string, string | undefined>> = process.env): KmsDriver {
  return {
    type: 'local-kms',
    open(_, params) {
      const secret = params['secret'] ?? environment['LOCAL_SECRET']
      if (!secret) {
        throw new EncryptionError(
          'missing_secret',
          "the local KMS has no secret: set the parameter 'secret' or the variable LOCAL_SECRET",
        )
      }
      const old = params['old.secrets'] ?? environment['LOCAL_OLD_SECRETS'] ?? ''
      return localKms(secret, old.split(',').filter(Boolean))
    },
  }
}

/** Returns the secrets of the local KMS in environment variables, to be masked in logs. */
export function localKmsSecrets(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const { LOCAL_SECRET: secret = '', LOCAL_OLD_SECRETS: old = '' } = environment
  return [secret, ...old.split(',')].filter(Boolean)
}

function localKms(secret: string, oldSecrets: readonly string[]): Kms {
  const current = cipherOf(secret)
  const ciphers = [current, ...oldSecrets.map(cipherOf)]
  return {
    wrap: async (dek) => current.encrypt(dek),
    async unwrap(wrapped) {
      for (const cipher of ciphers) {
        const dek = tryDecrypt(cipher, wrapped)
        if (dek !== undefined) return dek
      }
      throw new EncryptionError('decryption_failed', 'the key was encrypted with another secret, or it is damaged')
    },
  }
}

function tryDecrypt(cipher: AeadCipher, ciphertext: Uint8Array): Buffer | undefined {
  try {
    return cipher.decrypt(ciphertext)
  } catch {
    return undefined
  }
}

function cipherOf(secret: string): AeadCipher {
  return aesGcm(new Uint8Array(hkdfSync('sha256', secret, '', '', KEY_BYTES)))
}
