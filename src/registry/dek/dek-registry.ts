import type { KmsDriver } from '../../encryption/kms.ts'
import { CREATE_KEY, DELETE_KEY, UNDELETE_KEY, UPDATE_KEY, type WriteOperation } from '../commands/write-operation.ts'
import type { LeaderWriter } from '../leadership/leader-writer.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { Subject } from '../model/subject.ts'
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
import { KeyMaterial } from './key-material.ts'
import type { KeyView } from './key-state.ts'

export type DekRegistryOptions = {
  readonly view: KeyView
  readonly writes: WriteQueue
  /** How KMSs are reached, for shared KEKs. */
  readonly kmsDrivers: readonly KmsDriver[]
  /** How many KEKs, and how many DEKs, may exist before no further one is created. */
  readonly keysMax: number
  /** Whether a subject has the mode IMPORT: its DEKs are taken as they are, without asking the KMS. */
  readonly isImporting: (subject: Subject) => boolean
  /** Why the state does not follow the log: then nothing is answered or written. */
  readonly storeFailure: () => Error | undefined
}

/** A DEK, and its raw key in base64 where the registry may decrypt it for its clients. */
export type DekWithMaterial = { readonly dek: Dek; readonly keyMaterial: string | undefined }

/**
 * The DEK registry: keys that encrypt data (DEK), each encrypted by a key of a KMS (KEK). The KMS is asked before a write
 * gets its turn, so that a slow one delays nobody else.
 */
export class DekRegistry {
  readonly #options: DekRegistryOptions
  readonly #material: KeyMaterial

  constructor(options: DekRegistryOptions) {
    this.#options = options
    this.#material = new KeyMaterial(options.kmsDrivers)
  }

  /** Throws `store_unreadable` when the state does not follow the log. */
  get view(): KeyView {
    const failure = this.#options.storeFailure()
    if (failure === undefined) return this.#options.view
    const message = `Error while reading the backend Kafka store: ${failure.message}`
    throw new RegistryError('store_unreadable', message, { cause: failure })
  }

  /** With `test`, the KMS has to encrypt with a shared KEK first; else rejects with `kek_not_usable`. */
  async createKek(kek: StoredKek, options: { readonly test: boolean }): Promise<Kek> {
    if (options.test && kek.shared) await this.#testFor(CREATE_KEY_PREFIX, kek)
    return this.#write(CREATE_KEY, () => decideCreateKek(this.view, kek, this.#options.keysMax))
  }

  /** With `test`, the KMS has to encrypt with a shared KEK first; else rejects with `kek_not_usable`. */
  async updateKek(name: string, update: KekUpdate, options: { readonly test: boolean }): Promise<Kek> {
    const after = updatedKek(this.view, name, update)
    if (options.test && after.shared) await this.#testFor(UPDATE_KEY_PREFIX, after)
    return this.#write(UPDATE_KEY, () => decideUpdateKek(this.view, name, update))
  }

  /** Whether the KMS encrypts with a KEK. Rejects with `invalid_key` when it is not shared. */
  async testKek(kek: Kek): Promise<void> {
    if (!kek.shared) throw invalidKey('shared')
    await this.#material.test(kek)
  }

  deleteKek(name: string, permanent: boolean): Promise<void> {
    return this.#write(DELETE_KEY, () => decideDeleteKek(this.view, name, permanent))
  }

  undeleteKek(name: string): Promise<void> {
    return this.#write(UNDELETE_KEY, () => decideUndeleteKek(this.view, name))
  }

  /** Of several who create the same DEK at once, one succeeds; the others get `key_exists`. */
  async createDek(request: DekRequest): Promise<DekWithMaterial> {
    for (;;) {
      const plan = planDek(this.view, request, this.#options.keysMax)
      const encryptedKeyMaterial = await this.#encryptedMaterial(plan, request)
      const stored = { ...request, encryptedKeyMaterial }
      // What cannot be decrypted must not be stored: it would occupy its place for ever.
      const isOpened = plan.kek.shared && !this.#options.isImporting(request.subject)
      const keyMaterial = isOpened ? await this.#material.decrypt(plan.kek, stored) : undefined
      const dek = await this.#write(CREATE_KEY, () =>
        isCurrentPlan(this.view, plan, request) ? decideCreateDek(stored) : OUTDATED,
      )
      if (dek !== undefined) return { dek, keyMaterial }
    }
  }

  /** Decrypts a DEK where its KEK is shared. */
  async withMaterial(dek: Dek): Promise<DekWithMaterial> {
    const kek = this.view.kek(dek.kekName)
    return { dek, keyMaterial: kek?.shared ? await this.#material.decrypt(kek, dek) : undefined }
  }

  deleteDek(which: DekVersions, version: VersionNumber, permanent: boolean): Promise<void> {
    return this.#write(DELETE_KEY, () => decideDeleteDek(this.view, which, version, permanent))
  }

  deleteDeks(which: DekVersions, permanent: boolean): Promise<void> {
    return this.#write(DELETE_KEY, () => decideDeleteDeks(this.view, which, permanent))
  }

  undeleteDek(which: DekVersions, version: VersionNumber): Promise<void> {
    return this.#write(UNDELETE_KEY, () => decideUndeleteDek(this.view, which, version))
  }

  undeleteDeks(which: DekVersions): Promise<void> {
    return this.#write(UNDELETE_KEY, () => decideUndeleteDeks(this.view, which))
  }

  async #encryptedMaterial({ kek, before, material }: DekPlan, request: DekRequest): Promise<string | undefined> {
    if (material === 'given') return request.encryptedKeyMaterial
    if (before === undefined) return this.#material.generate(kek, request)
    return this.#material.encrypt(kek, request.subject, await this.#material.decrypt(kek, before))
  }

  async #testFor(prefix: string, kek: StoredKek): Promise<void> {
    try {
      await this.#material.test(kek)
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error
      throw new RegistryError('kek_not_usable', `${prefix}: ${error.message}`, { cause: error })
    }
  }

  #write<Response>(operation: WriteOperation, decide: () => KeyDecision<Response>): Promise<Response> {
    return this.#options.writes.write(operation, () => {
      const { records, respond } = decide()
      const append = records.length === 0 ? undefined : (writer: LeaderWriter) => writer.appendKeys(records)
      return { append, respond: () => respond(this.#options.view) }
    })
  }
}

/** The decision to plan anew: a key has changed meanwhile. */
const OUTDATED: KeyDecision<undefined> = { records: [], respond: () => undefined }
const CREATE_KEY_PREFIX = 'Error while creating key'
const UPDATE_KEY_PREFIX = 'Error while updating key'
