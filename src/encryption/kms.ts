import { messageOf } from '../config/errors.ts'
import { EncryptionError } from './error.ts'

/** A key management system's key, which encrypts data encryption keys (DEKs) and never leaves it. */
export type Kms = {
  /** Encrypts a DEK. */
  wrap(dek: Uint8Array): Promise<Buffer>
  /** Decrypts what `wrap` returned. Rejects where it was wrapped with another key. */
  unwrap(wrapped: Uint8Array): Promise<Buffer>
}

/** Configuration of KMS drivers, by key: what Confluent's clients take as `rule.executors._default_.param.KEY`. */
export type KmsParams = Readonly<Record<string, string>>

/** What a key encryption key (KEK) of the DEK registry says of its key in the KMS. */
export type KmsKey = {
  readonly kmsType: string
  readonly kmsKeyId: string
  readonly kmsProps?: KmsParams | undefined
}

/** Opens the keys of one KMS type. */
export type KmsDriver = {
  /** `kmsType` of the KEKs it is for, such as `local-kms` or `aws-kms`. */
  readonly type: string
  /**
   * Opens one key; throws where it lacks configuration. `key.kmsProps` come from the registry, so whoever may write KEKs
   * there chooses them: secrets belong into `params`.
   */
  open(key: KmsKey, params: KmsParams): Kms
}

/** Property of a KEK, or of `KmsParams`: further key ids of the same KMS, with commas, for when the first one fails. */
const ALTERNATE_KEY_IDS = 'encrypt.alternate.kms.key.ids'

/**
 * The KMS of a KEK. Each call tries its key id, then its alternate ones, and rejects with `kms_failed` and the reason of
 * the last one. Throws `unknown_kms` where no driver has its type.
 */
export function openKms(key: KmsKey, drivers: readonly KmsDriver[], params: KmsParams): Kms {
  const driver = drivers.find(({ type }) => type === key.kmsType)
  if (driver === undefined) {
    const known = drivers.map(({ type }) => `'${type}'`).join(', ') || 'none'
    throw new EncryptionError('unknown_kms', `no driver for KMS type '${key.kmsType}'; there are: ${known}`)
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
