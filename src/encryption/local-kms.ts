import { hkdfSync } from 'node:crypto'
import type { AeadCipher } from './aead-cipher.ts'
import { aesGcm } from './aes-gcm.ts'
import { EncryptionError } from './error.ts'
import type { Kms, KmsDriver } from './kms.ts'

/** A secret of any length gives a key of AES-128-GCM, as in Confluent's clients. */
const KEY_BYTES = 16

/**
 * The KMS for development, without a server: its only key is derived from a secret text, whatever the key id. Parameters
 * `secret` and `old.secrets` (with commas; they only unwrap), else the variables LOCAL_SECRET and LOCAL_OLD_SECRETS.
 * Properties of a KEK are not read: the registry does not choose the secret.
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

/** The secrets of the local KMS in an environment, to be masked in logs. */
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
      throw new EncryptionError('decryption_failed', 'the key was wrapped with another secret, or it is damaged')
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
