import { BoundedMap, getOrFetch } from '../../clients/bounded-map.ts'
import type { DekInfo, DekRegistryClient, KekInfo } from '../../clients/dek-registry-client.ts'
import { RequestError } from '../../clients/http-client.ts'
import type { AeadCipher } from '../../encryption/aead-cipher.ts'
import { createDataCipher, type DekAlgorithm, generateDek } from '../../encryption/data-cipher.ts'
import { EncryptionError } from '../../encryption/encryption-error.ts'
import { type Kms, type KmsDriver, type KmsParams, openKms } from '../../encryption/kms.ts'
import { RuleError } from './rule-error.ts'

/** Identifies the data encryption key (DEK) for a rule. */
export type DekSpec = {
  readonly kekName: string
  /** The rule's requirements for the KEK; also used to create it if it does not exist. */
  readonly kmsType: string | undefined
  readonly kmsKeyId: string | undefined
  readonly algorithm: DekAlgorithm
  readonly subject: string
  /**
   * Number of days after which writers create a new version. 0: keys do not expire, and ciphertexts have no version
   * prefix.
   */
  readonly expiryDays: number
}

/** An unwrapped DEK. `expiresAt` is in ms since 1970; after it, writers must load the DEK again. */
export type OpenDek = { readonly version: number; readonly cipher: AeadCipher; readonly expiresAt: number }

export type DekStoreOptions = {
  readonly registry: DekRegistryClient
  readonly drivers: readonly KmsDriver[]
  readonly params: KmsParams
  readonly deksMax: number
  readonly now: () => number
}

const LATEST = -1
const FIRST = 1
const DAY_MS = 86_400_000
/** If a new version cannot be created, writers continue with the expired one and retry after this time. */
const ROTATION_RETRY_MS = 60_000

/**
 * Caches unwrapped DEKs. Writers create KEKs and DEKs that do not exist; readers never do. Methods reject with a
 * `RuleError`, an `EncryptionError` or the registry's `RequestError`; failures are not cached.
 */
export class DekStore {
  readonly #options: DekStoreOptions
  readonly #deks: BoundedMap<string, Promise<OpenDek>>

  constructor(options: DekStoreOptions) {
    this.#options = options
    this.#deks = new BoundedMap(options.deksMax)
  }

  async forWriting(spec: DekSpec): Promise<OpenDek> {
    const key = JSON.stringify(['WRITE', spec])
    const known = this.#deks.get(key)
    // Only the first caller that finds the key expired removes it, so that concurrent callers share one load.
    if (known !== undefined && (await known).expiresAt <= this.#options.now() && this.#deks.get(key) === known) {
      this.#deks.delete(key)
    }
    return getOrFetch(this.#deks, key, () => this.#loadForWriting(spec))
  }

  forReading(spec: DekSpec, version: number = FIRST): Promise<OpenDek> {
    return getOrFetch(this.#deks, JSON.stringify(['READ', spec, version]), async () => {
      const kek = await this.#findKek(spec)
      if (kek === undefined) throw new RuleError(`KEK '${spec.kekName}' does not exist`)
      const dek = await this.#findDek(spec, version, true)
      if (dek === undefined) throw new RuleError(`DEK version ${version} of ${describe(spec)} does not exist`)
      return this.#open(kek, dek, spec)
    })
  }

  async #loadForWriting(spec: DekSpec): Promise<OpenDek> {
    const kek = (await this.#findKek(spec)) ?? (await this.#createKek(spec))
    const version = spec.expiryDays > 0 ? LATEST : FIRST
    const found = await this.#findDek(spec, version, false)
    if (found === undefined) return this.#openNew(kek, await this.#createDek(kek, spec, FIRST, version), spec)
    const dek = await this.#open(kek, found, spec)
    if (dek.expiresAt > this.#options.now()) return dek
    try {
      return await this.#openNew(kek, await this.#createDek(kek, spec, found.version + 1, version), spec)
    } catch (error) {
      if (!(error instanceof RequestError || error instanceof EncryptionError)) throw error
      return { ...dek, expiresAt: this.#options.now() + ROTATION_RETRY_MS }
    }
  }

  async #findKek(spec: DekSpec): Promise<KekInfo | undefined> {
    const kek = await this.#options.registry.kek(spec.kekName)
    if (kek !== undefined) checkKekOfRule(kek, spec)
    return kek
  }

  async #createKek(spec: DekSpec): Promise<KekInfo> {
    const { kekName: name, kmsType, kmsKeyId } = spec
    if (!kmsType || !kmsKeyId) {
      const missing = kmsType ? 'encrypt.kms.key.id' : 'encrypt.kms.type'
      throw new RuleError(`KEK '${name}' does not exist, and the rule has no ${missing} to create it`)
    }
    const { registry } = this.#options
    const created = await unlessConflict(registry.createKek({ name, kmsType, kmsKeyId, shared: false }))
    const kek = created ?? (await this.#findKek(spec))
    if (kek === undefined)
      throw new RuleError(`the KEK '${name}' could not be created: it conflicts with a deleted one`)
    return kek
  }

  async #findDek(spec: DekSpec, version: number, deleted: boolean): Promise<DekInfo | undefined> {
    const { kekName, subject, algorithm } = spec
    const dek = await this.#options.registry.dek({ kekName, subject, algorithm, version, deleted })
    return dek?.encryptedKeyMaterial ? dek : undefined
  }

  /** `existingVersion` is the version to load if another writer has created the DEK concurrently. */
  async #createDek(kek: KekInfo, spec: DekSpec, version: number, existingVersion: number): Promise<DekInfo> {
    const { subject, algorithm } = spec
    const wrapped = kek.shared === true ? undefined : await this.#kms(kek).wrap(generateDek(algorithm))
    const material = wrapped === undefined ? {} : { encryptedKeyMaterial: wrapped.toString('base64') }
    const created = this.#options.registry.createDek(kek.name, { subject, version, algorithm, ...material })
    const dek = (await unlessConflict(created)) ?? (await this.#findDek(spec, existingVersion, false))
    if (dek === undefined) {
      throw new RuleError(`a DEK of ${describe(spec)} could not be created: it conflicts with a deleted one`)
    }
    return dek
  }

  /**
   * A new key expires by the clock of this process. By that of the registry it could be expired at once, and each value
   * would have a key of its own.
   */
  #openNew(kek: KekInfo, dek: DekInfo, spec: DekSpec): Promise<OpenDek> {
    return this.#open(kek, { ...dek, ts: this.#options.now() }, spec)
  }

  /**
   * Uses the key that the registry returned, not the one that was sent, because another writer may have created it
   * first.
   */
  async #open(kek: KekInfo, dek: DekInfo, { algorithm, expiryDays }: DekSpec): Promise<OpenDek> {
    const { version, keyMaterial, encryptedKeyMaterial = '', ts = 0 } = dek
    const key = keyMaterial
      ? Buffer.from(keyMaterial, 'base64')
      : await this.#kms(kek).unwrap(Buffer.from(encryptedKeyMaterial, 'base64'))
    const expiresAt = expiryDays > 0 ? ts + expiryDays * DAY_MS : Number.POSITIVE_INFINITY
    return { version, cipher: createDataCipher(algorithm, key), expiresAt }
  }

  #kms(kek: KekInfo): Kms {
    return openKms(kek, this.#options.drivers, this.#options.params)
  }
}

/**
 * Throws a `RuleError` if the KEK does not match the KMS type and key id in the rule. A rule can thereby prevent users
 * who may create KEKs from choosing them.
 */
function checkKekOfRule(kek: KekInfo, { kmsType, kmsKeyId }: DekSpec): void {
  if (kmsType && kek.kmsType !== kmsType) {
    throw new RuleError(`the KEK '${kek.name}' has KMS type '${kek.kmsType}', but the rule requires '${kmsType}'`)
  }
  if (kmsKeyId && kek.kmsKeyId !== kmsKeyId) {
    throw new RuleError(`the KEK '${kek.name}' has KMS key id '${kek.kmsKeyId}', but the rule requires '${kmsKeyId}'`)
  }
}

/** Returns undefined if the object already exists (status 409). */
async function unlessConflict<Created>(created: Promise<Created>): Promise<Created | undefined> {
  try {
    return await created
  } catch (error) {
    if (error instanceof RequestError && error.status === 409) return undefined
    throw error
  }
}

function describe({ kekName, subject, algorithm }: DekSpec): string {
  return `KEK '${kekName}', subject '${subject}', algorithm ${algorithm}`
}
