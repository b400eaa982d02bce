import { z } from 'zod'
import { messageOf } from '../../common/errors.ts'
import { DEK_ALGORITHMS } from '../../encryption/data-cipher.ts'
import { toSubject } from '../model/subject.ts'
import type { RawRecord } from '../store/record-codec.ts'
import { type DekId, type KeyId, type KeyRecord, type StoredDek, type StoredKek, sortedEntries } from './key.ts'

const TENANT = 'default'

const text = z.string()
const idSpec = z.discriminatedUnion('type', [
  z.object({ type: z.literal('KEK'), tenant: text, name: text }),
  z.object({
    type: z.literal('DEK'),
    tenant: text,
    kekName: text,
    subject: text,
    algorithm: z.enum(DEK_ALGORITHMS),
    version: z.int(),
  }),
])
const kekSpec = z.object({
  type: z.literal('KEK'),
  kmsType: text,
  kmsKeyId: text,
  kmsProps: z.record(text, text.nullable()).nullish(),
  doc: text.nullish(),
  shared: z.boolean().default(false),
  deleted: z.boolean().default(false),
})
const dekSpec = z.object({
  type: z.literal('DEK'),
  encryptedKeyMaterial: text.nullish(),
  deleted: z.boolean().default(false),
})

/** Thrown for a record whose key can be read, but not its value. */
export class UnreadableKeyError extends Error {
  readonly id: KeyId

  constructor(id: KeyId, cause: unknown) {
    super(messageOf(cause), { cause })
    this.id = id
  }
}

/**
 * Encodes and decodes the records of `_dek_registry_keys` in Confluent's format, with the members in the order that its
 * serializer writes. Two texts can denote the same record key. The codec remembers the text that it read for each key and
 * writes the same text, so that compaction replaces the old record.
 */
export class KeyRecordCodec {
  /** The key text that this codec writes → the key text in the topic, where they differ. */
  readonly #asRead = new Map<string, string>()

  encode(record: KeyRecord): RawRecord {
    const key = keyText(record)
    return {
      key: Buffer.from(this.#asRead.get(key) ?? key),
      value: record.value === null ? null : Buffer.from(JSON.stringify(valueMembers(record))),
    }
  }

  /**
   * Returns undefined for a record of another tenant and for a marker. Throws an `Error` that states why the record cannot
   * be read, an `UnreadableKeyError` if its key can be. Its message contains no values, because key material and KMS secrets
   * must not be logged.
   */
  decode(key: Buffer | null, value: Buffer | null): KeyRecord | undefined {
    const text = key?.toString('utf8') ?? ''
    const id = parse(idSpec, text, 'key')
    if (id.tenant !== TENANT || (id.type === 'KEK' && id.name === '')) return undefined
    const valueText = value === null || value.length === 0 ? null : value.toString('utf8')
    const keyId: KeyId = id.type === 'KEK' ? { kind: 'kek', name: id.name } : { kind: 'dek', id: dekIdOf(id) }
    const record = recordOf(keyId, valueText)
    const ours = keyText(record)
    if (ours !== text) this.#asRead.set(ours, text)
    return record
  }
}

/**
 * The first record of a new leader: a tombstone of a KEK with an empty name, which cannot exist. It has no effect in
 * Confluent's registry, and compaction removes it.
 */
export function markerRecord(): RawRecord {
  return { key: Buffer.from(kekKeyText('')), value: null }
}

function keyText(record: KeyRecord): string {
  if (record.kind === 'kek') return kekKeyText(record.name)
  const { kekName, subject, algorithm, version } = record.id
  return JSON.stringify({ tenant: TENANT, kekName, subject, algorithm, version, type: 'DEK' })
}

function kekKeyText(name: string): string {
  return JSON.stringify({ tenant: TENANT, name, type: 'KEK' })
}

function valueMembers(record: KeyRecord): object | null {
  if (record.kind === 'kek') return record.value && kekMembers(record.value)
  return record.value && dekMembers(record.value)
}

function kekMembers({ name, kmsType, kmsKeyId, kmsProps, doc, shared, deleted }: StoredKek): object {
  return { name, kmsType, kmsKeyId, kmsProps: sortedEntries(kmsProps), doc, shared, deleted, type: 'KEK' }
}

function dekMembers({ kekName, subject, algorithm, version, encryptedKeyMaterial, deleted }: StoredDek): object {
  return { kekName, subject, algorithm, version, encryptedKeyMaterial, deleted, type: 'DEK' }
}

function dekIdOf({
  kekName,
  subject,
  algorithm,
  version,
}: Omit<DekId, 'subject'> & { readonly subject: string }): DekId {
  return { kekName, subject: toSubject(subject), algorithm, version }
}

function recordOf(key: KeyId, valueText: string | null): KeyRecord {
  if (valueText === null) return { ...key, value: null }
  try {
    return key.kind === 'kek'
      ? { ...key, value: kekOf(key.name, valueText) }
      : { ...key, value: dekOf(key.id, valueText) }
  } catch (error) {
    throw new UnreadableKeyError(key, error)
  }
}

function kekOf(name: string, valueText: string): StoredKek {
  const { kmsProps, doc, ...members } = parse(kekSpec, valueText, 'value')
  // Confluent's registry stores null for a property without a value.
  const given = Object.entries(kmsProps ?? {}).filter((entry): entry is [string, string] => entry[1] !== null)
  const { kmsType, kmsKeyId, shared, deleted } = members
  return { name, kmsType, kmsKeyId, kmsProps: Object.fromEntries(given), doc: doc ?? undefined, shared, deleted }
}

function dekOf(id: DekId, valueText: string): StoredDek {
  const { encryptedKeyMaterial, deleted } = parse(dekSpec, valueText, 'value')
  return { ...id, encryptedKeyMaterial: encryptedKeyMaterial ?? undefined, deleted }
}

function parse<Spec extends z.ZodType>(spec: Spec, text: string, what: 'key' | 'value'): z.infer<Spec> {
  const parsed = spec.safeParse(membersOf(text))
  if (parsed.success) return parsed.data
  // Nested paths are not reported, because they can contain secrets.
  const [member] = parsed.error.issues[0]?.path ?? []
  const isObject = member !== undefined
  throw new Error(
    isObject
      ? `the member '${String(member)}' of its ${what} is missing or invalid`
      : `its ${what} is not a JSON object`,
  )
}

function membersOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's message would quote the text.
    return undefined
  }
}
