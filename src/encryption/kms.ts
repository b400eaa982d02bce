import { messageOf } from '../common/errors.ts'
import { EncryptionError } from './encryption-error.ts'

/** A key of a key management system (KMS), which encrypts data encryption keys (DEKs) and never leaves the KMS. */
export type Kms = {
  /** Encrypts a DEK. */
  wrap(dek: Uint8Array): Promise<Buffer>
  /** Decrypts a result of `wrap`. Rejects if it was encrypted with another key. */
  unwrap(wrapped: Uint8Array): Promise<Buffer>
}

/** Configuration of KMS drivers by key. Confluent's clients name it `rule.executors._default_.param.KEY`. */
export type KmsParams = Readonly<Record<string, string>>

/** Identifies a key in a KMS: these members of a key encryption key (KEK) of the DEK registry. */
export type KmsKey = {
  readonly kmsType: string
  readonly kmsKeyId: string
  readonly kmsProps?: KmsParams | undefined
}

/** Opens the keys of one KMS type. */
export type KmsDriver = {
  /** The `kmsType` of the KEKs that it supports, such as `local-kms` or `aws-kms`. */
  readonly type: string
  /**
   * Opens a key. Throws if configuration is missing. `key.kmsProps` come from the registry and can be set by every user
   * who may write KEKs, so secrets belong in `params`.
   */
  open(key: KmsKey, params: KmsParams): Kms
}

/** A property of a KEK, or a key of `KmsParams`: comma-separated IDs of alternate keys, used if the first one fails. */
const ALTERNATE_KEY_IDS = 'encrypt.alternate.kms.key.ids'

/**
 * Opens the KMS of a KEK. Each call tries the key ID and then the alternate ones, and rejects with `kms_failed` and the
 * reason of the last failure. Throws `unknown_kms` if no driver has the KMS type.
 */
export function openKms(key: KmsKey, drivers: readonly KmsDriver[], params: KmsParams): Kms {
  const driver = drivers.find(({ type }) => type === key.kmsType)
  if (driver === undefined) {
    const known = drivers.map(({ type }) => `'${type}'`).join(', ') || 'none'
    throw new EncryptionError('unknown_kms', `no driver for KMS type '${key.kmsType}'; available drivers: ${known}`)
  }
  const alternates = key.kmsProps?.[ALTERNATE_KEY_IDS] ?? params[ALTERNATE_KEY_IDS] ?? ''
  const ids = [
    key.kmsKeyId,
    ...alternates
      .split(',')
      .map((id) => id.trim())
      .filter(Boolean),
  ]

  async function tryEach(operation: 'wrap' | 'unwrap', bytes: Uint8Array): Promise<Buffer> {
    let last: unknown
    for (const kmsKeyId of ids) {
      try {
        return await driver!.open({ ...key, kmsKeyId }, params)[operation](bytes)
      } catch (error) {
        last = error
      }
    }
    const keys = ids.map((id) => `'${id}'`).join(', ')
    const message = `KMS '${key.kmsType}' could not ${operation} a key with key id ${keys}: ${messageOf(last)}`
    throw new EncryptionError('kms_failed', message, { cause: last })
  }

  return { wrap: (dek) => tryEach('wrap', dek), unwrap: (wrapped) => tryEach('unwrap', wrapped) }
}
