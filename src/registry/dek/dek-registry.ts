import type { KmsDriver } from '../../encryption/kms.ts'
import type { LeaderWriter } from '../leadership/leader-writer.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
import {
  CREATE_KEY_MESSAGES,
  DELETE_KEY_MESSAGES,
  UNDELETE_KEY_MESSAGES,
  UPDATE_KEY_MESSAGES,
  type WriteErrorMessages,
} from '../model/write-error-messages.ts'
import type { WriteQueue } from '../write-queue.ts'
import {
  type DekPlan,
  type DekRequest,
  type DekVersions,
  decideCreateDek,
  decideDeleteDek,
  decideDeleteDeks,
  decideUndeleteDek,
  decideUndeleteDeks,
  isCurrentPlan,
  planDek,
  type VersionNumber,
} from './dek-commands.ts'
import { DekEncryption } from './dek-encryption.ts'
import {
  decideCreateKek,
  decideDeleteKek,
  decideUndeleteKek,
  decideUpdateKek,
  type KekUpdate,
  updatedKek,
} from './kek-commands.ts'
import type { Dek, Kek, StoredKek } from './key.ts'
import type { KeyDecision } from './key-decision.ts'
import { invalidKey } from './key-error.ts'
import type { KeyView } from './key-state.ts'

export type DekRegistryOptions = {
  readonly view: KeyView
  readonly writes: WriteQueue
  /** The KMS drivers for shared KEKs. */
  readonly kmsDrivers: readonly KmsDriver[]
  /** No KEK is created while there are more KEKs than this, and no DEK while there are more DEKs. */
  readonly keysMax: number
  /** Whether a subject is in mode IMPORT. Its DEKs are stored as sent, without a test by the KMS. */
  readonly isImporting: (subject: Subject) => boolean
  /** Why the state no longer follows the log. While it is defined, nothing is read or written. */
  readonly storeFailure: () => Error | undefined
}

/** A DEK. `keyMaterial` is the raw key in base64, if the registry can decrypt it for its clients. */
export type DekWithMaterial = { readonly dek: Dek; readonly keyMaterial: string | undefined }

/**
 * The DEK registry: data encryption keys (DEKs), each encrypted by a key encryption key (KEK) of a KMS. Calls to the KMS
 * are made before a write enters the queue, so that a slow KMS does not delay other writes.
 */
export class DekRegistry {
  readonly #options: DekRegistryOptions
  readonly #dekEncryption: DekEncryption

  constructor(options: DekRegistryOptions) {
    this.#options = options
    this.#dekEncryption = new DekEncryption(options.kmsDrivers)
  }

  /** Throws `store_unreadable` if the state no longer follows the log. */
  get view(): KeyView {
    const failure = this.#options.storeFailure()
    if (failure === undefined) return this.#options.view
    const message = `Error while reading the backend Kafka store: ${failure.message}`
    throw new RegistryError('store_unreadable', message, { cause: failure })
  }

  /** With `test`, rejects with `kek_not_usable` if the KEK is shared and its KMS cannot encrypt with it. */
  async createKek(kek: StoredKek, options: { readonly test: boolean }): Promise<Kek> {
    if (options.test && kek.shared) await this.#testBeforeWrite(CREATE_KEY_PREFIX, kek)
    return this.#write(CREATE_KEY_MESSAGES, () => decideCreateKek(this.view, kek, this.#options.keysMax))
  }

  /** With `test`, rejects with `kek_not_usable` if the KEK is shared and its KMS cannot encrypt with it. */
  async updateKek(name: string, update: KekUpdate, options: { readonly test: boolean }): Promise<Kek> {
    const after = updatedKek(this.view, name, update)
    if (options.test && after.shared) await this.#testBeforeWrite(UPDATE_KEY_PREFIX, after)
    return this.#write(UPDATE_KEY_MESSAGES, () => decideUpdateKek(this.view, name, update))
  }

  /**
   * Tests whether the KMS can encrypt with a KEK. Rejects with `dek_generation_failed` if it cannot, and with `invalid_key`
   * if the KEK is not shared.
   */
  async testKek(kek: Kek): Promise<void> {
    if (!kek.shared) throw invalidKey('shared')
    await this.#dekEncryption.test(kek)
  }

  deleteKek(name: string, permanent: boolean): Promise<void> {
    return this.#write(DELETE_KEY_MESSAGES, () => decideDeleteKek(this.view, name, permanent))
  }

  undeleteKek(name: string): Promise<void> {
    return this.#write(UNDELETE_KEY_MESSAGES, () => decideUndeleteKek(this.view, name))
  }

  /** If several requests create the same DEK concurrently, one succeeds and the others reject with `key_exists`. */
  async createDek(request: DekRequest): Promise<DekWithMaterial> {
    for (;;) {
      const plan = planDek(this.view, request, this.#options.keysMax)
      const encryptedKeyMaterial = await this.#encryptedMaterial(plan, request)
      const stored = { ...request, encryptedKeyMaterial }
      // A DEK that cannot be decrypted must not be stored, because its version could never be used or replaced.
      const isDecrypted = plan.kek.shared && !this.#options.isImporting(request.subject)
      const keyMaterial = isDecrypted ? await this.#dekEncryption.decrypt(plan.kek, stored) : undefined
      const dek = await this.#write(CREATE_KEY_MESSAGES, () =>
        isCurrentPlan(this.view, plan, request) ? decideCreateDek(stored) : OUTDATED,
      )
      if (dek !== undefined) return { dek, keyMaterial }
    }
  }

  /** Adds the decrypted key if the KEK is shared. */
  async withMaterial(dek: Dek): Promise<DekWithMaterial> {
    const kek = this.view.kek(dek.kekName)
    return { dek, keyMaterial: kek?.shared ? await this.#dekEncryption.decrypt(kek, dek) : undefined }
  }

  deleteDek(versions: DekVersions, version: VersionNumber, permanent: boolean): Promise<void> {
    return this.#write(DELETE_KEY_MESSAGES, () => decideDeleteDek(this.view, versions, version, permanent))
  }

  deleteDeks(versions: DekVersions, permanent: boolean): Promise<void> {
    return this.#write(DELETE_KEY_MESSAGES, () => decideDeleteDeks(this.view, versions, permanent))
  }

  undeleteDek(versions: DekVersions, version: VersionNumber): Promise<void> {
    return this.#write(UNDELETE_KEY_MESSAGES, () => decideUndeleteDek(this.view, versions, version))
  }

  undeleteDeks(versions: DekVersions): Promise<void> {
    return this.#write(UNDELETE_KEY_MESSAGES, () => decideUndeleteDeks(this.view, versions))
  }

  async #encryptedMaterial({ kek, before, material }: DekPlan, request: DekRequest): Promise<string | undefined> {
    if (material === 'given') return request.encryptedKeyMaterial
    if (before === undefined) return this.#dekEncryption.generate(kek, request)
    return this.#dekEncryption.encrypt(kek, request.subject, await this.#dekEncryption.decrypt(kek, before))
  }

  async #testBeforeWrite(prefix: string, kek: StoredKek): Promise<void> {
    try {
      await this.#dekEncryption.test(kek)
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error
      throw new RegistryError('kek_not_usable', `${prefix}: ${error.message}`, { cause: error })
    }
  }

  #write<Response>(operation: WriteErrorMessages, decide: () => KeyDecision<Response>): Promise<Response> {
    return this.#options.writes.write(operation, () => {
      const { records, respond } = decide()
      const append = records.length === 0 ? undefined : (writer: LeaderWriter) => writer.appendKeys(records)
      return { append, respond: () => respond(this.#options.view) }
    })
  }
}

/** The decision if a key has changed since the plan was made: the DEK is planned again. */
const OUTDATED: KeyDecision<undefined> = { records: [], respond: () => undefined }
const CREATE_KEY_PREFIX = 'Error while creating key'
const UPDATE_KEY_PREFIX = 'Error while updating key'
