import { UserError } from '../common/errors.ts'

export type EncryptionErrorCode =
  /** The key material is not a key of its algorithm. */
  | 'invalid_dek'
  /** A ciphertext was encrypted with another key, or it is damaged. */
  | 'decryption_failed'
  /** No driver supports the KMS type. */
  | 'unknown_kms'
  /** The local KMS has no secret. */
  | 'missing_secret'
  /** The KMS could not encrypt or decrypt a key with any of the key IDs. */
  | 'kms_failed'

export class EncryptionError extends UserError<EncryptionErrorCode> {
  constructor(code: EncryptionErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options)
    this.name = 'EncryptionError'
  }
}
