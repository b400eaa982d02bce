import { messageOf } from '../../config/errors.ts'
import { generateDek } from '../../encryption/dek-cipher.ts'
import { type Kms, type KmsDriver, type KmsKey, openKms } from '../../encryption/kms.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { StoredDek } from './key.ts'

/** The subject that errors name when a KEK is tested. */
const TEST_SUBJECT = '__TEST'

/**
 * The material of DEKs whose KEK the registry may use itself, in base64. Every call rejects with `dek_generation_failed`
 * when the KMS does not do what is asked. Errors do not quote the material.
 */
export class KeyMaterial {
  readonly #drivers: readonly KmsDriver[]

  constructor(drivers: readonly KmsDriver[]) {
    this.#drivers = drivers
  }

  /** A new key, encrypted. */
  generate(kek: KmsKey, { subject, algorithm }: Pick<StoredDek, 'subject' | 'algorithm'>): Promise<string> {
    return this.#askKms(kek, 'encrypted', subject, (kms) => kms.wrap(generateDek(algorithm)))
  }

  encrypt(kek: KmsKey, subject: string, material: string): Promise<string> {
    return this.#askKms(kek, 'encrypted', subject, (kms) => kms.wrap(Buffer.from(material, 'base64')))
  }

  decrypt(
    kek: KmsKey,
    { subject, encryptedKeyMaterial = '' }: Pick<StoredDek, 'subject' | 'encryptedKeyMaterial'>,
  ): Promise<string> {
    return this.#askKms(kek, 'raw', subject, (kms) => kms.unwrap(Buffer.from(encryptedKeyMaterial, 'base64')))
  }

  /** Whether the KMS encrypts with a KEK. */
  async test(kek: KmsKey): Promise<void> {
    await this.#askKms(kek, 'encrypted', TEST_SUBJECT, (kms) => kms.wrap(generateDek('AES256_GCM')))
  }

  async #askKms(
    kek: KmsKey,
    what: 'encrypted' | 'raw',
    subject: string,
    ask: (kms: Kms) => Promise<Buffer>,
  ): Promise<string> {
    try {
      // What its clients and the registry need to know about a KMS is in the properties of the KEK.
      return (await ask(openKms(kek, this.#drivers, kek.kmsProps ?? {}))).toString('base64')
    } catch (error) {
      const message = `Could not generate ${what} dek for ${subject}: ${messageOf(error)}`
      throw new RegistryError('dek_generation_failed', message, { cause: error })
    }
  }
}
