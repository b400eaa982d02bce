import { messageOf } from '../../common/errors.ts'
import { generateDek } from '../../encryption/data-cipher.ts'
import { type Kms, type KmsDriver, type KmsKey, openKms } from '../../encryption/kms.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { StoredDek } from './key.ts'

/** The subject in error messages when a KEK is tested. */
const TEST_SUBJECT = '__TEST'

/**
 * Generates, encrypts and decrypts DEKs of shared KEKs by the KMS. Keys are in base64. Every method rejects with
 * `dek_generation_failed` if the KMS fails. Error messages do not contain key material.
 */
export class DekEncryption {
  readonly #drivers: readonly KmsDriver[]

  constructor(drivers: readonly KmsDriver[]) {
    this.#drivers = drivers
  }

  /** Returns a new encrypted key. */
  generate(kek: KmsKey, { subject, algorithm }: Pick<StoredDek, 'subject' | 'algorithm'>): Promise<string> {
    return this.#callKms(kek, 'encrypted', subject, (kms) => kms.wrap(generateDek(algorithm)))
  }

  encrypt(kek: KmsKey, subject: string, material: string): Promise<string> {
    return this.#callKms(kek, 'encrypted', subject, (kms) => kms.wrap(Buffer.from(material, 'base64')))
  }

  decrypt(
    kek: KmsKey,
    { subject, encryptedKeyMaterial = '' }: Pick<StoredDek, 'subject' | 'encryptedKeyMaterial'>,
  ): Promise<string> {
    return this.#callKms(kek, 'raw', subject, (kms) => kms.unwrap(Buffer.from(encryptedKeyMaterial, 'base64')))
  }

  /** Tests whether the KMS can encrypt with a KEK. */
  async test(kek: KmsKey): Promise<void> {
    await this.#callKms(kek, 'encrypted', TEST_SUBJECT, (kms) => kms.wrap(generateDek('AES256_GCM')))
  }

  async #callKms(
    kek: KmsKey,
    what: 'encrypted' | 'raw',
    subject: string,
    call: (kms: Kms) => Promise<Buffer>,
  ): Promise<string> {
    try {
      // The properties of the KEK configure the KMS driver.
      return (await call(openKms(kek, this.#drivers, kek.kmsProps ?? {}))).toString('base64')
    } catch (error) {
      const message = `Could not generate ${what} dek for ${subject}: ${messageOf(error)}`
      throw new RegistryError('dek_generation_failed', message, { cause: error })
    }
  }
}
