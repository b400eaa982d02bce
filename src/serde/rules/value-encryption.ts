import type { SchemaMetadata } from '../../clients/registry-client.ts'
import { DEK_ALGORITHMS, type DekAlgorithm } from '../../encryption/data-cipher.ts'
import type { FieldType } from '../../formats/field-transform.ts'
import type { DekSpec, DekStore, OpenDek } from './dek-store.ts'
import { RuleError } from './rule-error.ts'
import type { DataRule, RuleMode } from './rules-to-run.ts'

/** If keys expire, a ciphertext is preceded by a zero byte and the version of the key (4 bytes, big-endian). */
const VERSION_HEAD_BYTES = 5
/** Placeholder for the version used to write, which is known only after the key was loaded. */
const WRITTEN = 0

/** Parses the parameters of a rule. Missing parameters are taken from the schema's metadata. Throws a `RuleError`. */
export function dekSpecOf(rule: DataRule, metadata: SchemaMetadata | undefined, subject: string): DekSpec {
  const param = (name: string) => rule.params[name] ?? metadata?.properties?.[name]
  const kekName = param('encrypt.kek.name')
  if (!kekName) throw new RuleError('the rule has no encrypt.kek.name')
  return {
    kekName,
    kmsType: param('encrypt.kms.type'),
    kmsKeyId: param('encrypt.kms.key.id'),
    algorithm: algorithmOf(param('encrypt.dek.algorithm') ?? 'AES256_GCM'),
    expiryDays: daysOf(param('encrypt.dek.expiry.days') ?? '0'),
    subject,
  }
}

function algorithmOf(name: string): DekAlgorithm {
  const algorithm = DEK_ALGORITHMS.find((known) => known === name)
  if (algorithm) return algorithm
  throw new RuleError(`encrypt.dek.algorithm '${name}' is none of ${DEK_ALGORITHMS.join(', ')}`)
}

function daysOf(text: string): number {
  const days = Number(text)
  if (Number.isSafeInteger(days) && days >= 0) return days
  throw new RuleError(`encrypt.dek.expiry.days '${text}' is not a number of days`)
}

/**
 * Encrypts or decrypts the values of one rule execution: `add` collects them, `loadKeys` loads their keys, `apply`
 * returns the results. `schema-rules.ts` selects the fields.
 */
export class ValueEncryption {
  readonly #spec: DekSpec
  readonly #mode: RuleMode
  readonly #versions = new Set<number>()
  readonly #deks = new Map<number, OpenDek>()

  constructor(spec: DekSpec, mode: RuleMode) {
    this.#spec = spec
    this.#mode = mode
  }

  /** Whether `add` has found values to encrypt or decrypt. */
  get isNeeded(): boolean {
    return this.#versions.size > 0
  }

  /** Collects the key version for a value. Throws a `RuleError` if the value cannot be encrypted. */
  add(type: FieldType, value: unknown): void {
    if (this.#mode === 'WRITE') {
      plaintextOf(type, value)
      this.#versions.add(WRITTEN)
      return
    }
    const ciphertext = ciphertextOf(type, value)
    if (ciphertext !== undefined) this.#versions.add(this.#split(ciphertext).version)
  }

  async loadKeys(store: DekStore): Promise<void> {
    for (const version of this.#versions) {
      const dek = this.#mode === 'WRITE' ? store.forWriting(this.#spec) : store.forReading(this.#spec, version)
      this.#deks.set(version, await dek)
    }
  }

  /** Returns the encrypted or decrypted value. Its keys must be loaded. */
  apply(type: FieldType, value: unknown): unknown {
    return this.#mode === 'WRITE' ? this.#encrypt(type, value) : this.#decrypt(type, value)
  }

  #encrypt(type: FieldType, value: unknown): unknown {
    const { version, cipher } = this.#key(WRITTEN)
    const ciphertext = cipher.encrypt(plaintextOf(type, value))
    const bytes = this.#hasVersions ? Buffer.concat([versionHead(version), ciphertext]) : ciphertext
    return type === 'STRING' ? bytes.toString('base64') : bytes
  }

  #decrypt(type: FieldType, value: unknown): unknown {
    const bytes = ciphertextOf(type, value)
    if (bytes === undefined) return value
    const { version, ciphertext } = this.#split(bytes)
    const plaintext = this.#key(version).cipher.decrypt(ciphertext)
    return type === 'STRING' ? plaintext.toString('utf8') : plaintext
  }

  get #hasVersions(): boolean {
    return this.#spec.expiryDays > 0
  }

  #key(version: number): OpenDek {
    const dek = this.#deks.get(version)
    if (dek === undefined) throw new Error(`the key of version ${version} was not loaded`)
    return dek
  }

  #split(bytes: Buffer): { readonly version: number; readonly ciphertext: Buffer } {
    if (!this.#hasVersions) return { version: 1, ciphertext: bytes }
    if (bytes.length < VERSION_HEAD_BYTES || bytes[0] !== 0) {
      throw new RuleError(
        'a value does not begin with the version of its key: it is not encrypted, or by a rule without expiry',
      )
    }
    return { version: bytes.readInt32BE(1) || 1, ciphertext: bytes.subarray(VERSION_HEAD_BYTES) }
  }
}

function versionHead(version: number): Buffer {
  const head = Buffer.alloc(VERSION_HEAD_BYTES)
  head.writeInt32BE(version, 1)
  return head
}

function plaintextOf(type: FieldType, value: unknown): Uint8Array {
  if (type === 'STRING' && typeof value === 'string') return Buffer.from(value, 'utf8')
  if (type === 'BYTES' && value instanceof Uint8Array) return value
  throw new RuleError(`type ${type} cannot be encrypted, only STRING and BYTES`)
}

/** Returns undefined if the value cannot be a ciphertext; such values are returned unchanged. */
function ciphertextOf(type: FieldType, value: unknown): Buffer | undefined {
  if (type === 'STRING' && typeof value === 'string') return Buffer.from(value, 'base64')
  if (type === 'BYTES' && value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return undefined
}
