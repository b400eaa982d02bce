import type { ZodType } from 'zod'
import { type Mode, REGISTRY_MODES } from '../../clients/registry-client.ts'
import { messageOf } from '../../common/errors.ts'
import type { FormatType } from '../../formats/format.ts'
import type { SchemaReference } from '../../formats/references.ts'
import { type RuleSet, ruleSetSpec } from '../model/rule-set.ts'
import { guidOf, type SchemaContent, toUuid } from '../model/schema.ts'
import { type Metadata, metadataSpec } from '../model/schema-metadata.ts'
import { type Subject, toSubject } from '../model/subject.ts'
import { toConfig } from '../model/subject-config.ts'
import { associationKeyText, associationValue, toAssociationRecord } from './association-codec.ts'
import { type RecordMembers, TENANT, toText } from './record-members.ts'
import type { RegistryRecord, StoredSchema } from './registry-record.ts'

export type RawRecord = { readonly key: Buffer; readonly value: Buffer | null }

/** The parts of the key text that this codec writes for a schema. Most keys have it, and it is faster to match than to parse. */
const PLAIN_KEY_START = '{"keytype":"SCHEMA","subject":"'
const PLAIN_KEY_MIDDLE = '","version":'
const PLAIN_KEY_END = ',"magic":1}'
const PLAIN_VERSION = /^(?:0|[1-9]\d{0,8})$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const ESCAPED = /[\\\x00-\x1f]/

/**
 * Encodes and decodes the records of `_schemas` in Confluent's format. Keys are JSON texts, and two texts can denote
 * the same key (null or absent members, `magic` 0 or 1). The codec remembers the text that it read for each key and
 * writes the same text, so that compaction replaces the old record.
 */
export class RecordCodec {
  /** The key text that this codec writes → the key text in the topic, where they differ. */
  readonly #asRead = new Map<string, string>()

  encode(record: Exclude<RegistryRecord, { kind: 'none' }>): RawRecord {
    const key = keyText(record)
    const value = valueMembers(record)
    return {
      key: Buffer.from(this.#asRead.get(key) ?? key),
      value: value === null ? null : Buffer.from(JSON.stringify(value)),
    }
  }

  /**
   * An empty value is a tombstone, like a null value. Throws an `Error` that states why the record cannot be read, an
   * `UnreadableVersionError` if it is that of a version.
   */
  decode(key: Buffer | null, value: Buffer | null): RegistryRecord {
    const text = key?.toString('utf8') ?? ''
    const plain = plainKey(text)
    const members = plain ?? membersOf(text, 'key')
    const valueText = value === null || value.length === 0 ? null : String(value)
    const record =
      members['keytype'] === 'SCHEMA'
        ? toSchemaRecord(members, valueText)
        : toRecord(members, valueText === null ? null : membersOf(valueText, 'value'))
    const isOurs = plain && record.kind === 'schema' && record.subject === plain.subject
    if (record.kind !== 'none' && !isOurs) {
      const ours = keyText(record)
      if (ours !== text) this.#asRead.set(ours, text)
    }
    return record
  }
}

/** A version whose record cannot be read. Its ID is undefined if that cannot be read either. */
export type UnreadableVersion = { readonly subject: Subject; readonly version: number; readonly id: number | undefined }

export class UnreadableVersionError extends Error {
  readonly version: UnreadableVersion

  constructor(version: UnreadableVersion, cause: unknown) {
    super(messageOf(cause), { cause })
    this.version = version
  }
}

export const NOOP_KEY = '{"keytype":"NOOP","magic":0}'

function plainKey(text: string) {
  if (!text.startsWith(PLAIN_KEY_START) || !text.endsWith(PLAIN_KEY_END)) return undefined
  const end = text.indexOf('"', PLAIN_KEY_START.length)
  if (!text.startsWith(PLAIN_KEY_MIDDLE, end)) return undefined
  const subject = text.slice(PLAIN_KEY_START.length, end)
  const version = text.slice(end + PLAIN_KEY_MIDDLE.length, -PLAIN_KEY_END.length)
  if (!PLAIN_VERSION.test(version) || ESCAPED.test(subject)) return undefined
  return { keytype: 'SCHEMA', subject, version: Number(version), magic: 1 }
}

function membersOf(text: string, what: string): RecordMembers {
  const members: unknown = JSON.parse(text)
  if (typeof members !== 'object' || members === null) throw new Error(`its ${what} is not a JSON object`)
  return members as RecordMembers
}

// ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function keyText(record: Exclude<RegistryRecord, { kind: 'none' }>): string {
  switch (record.kind) {
    case 'schema':
      return JSON.stringify({ keytype: 'SCHEMA', subject: record.subject, version: record.version, magic: 1 })
    case 'association':
      return associationKeyText(record.association)
    case 'context':
      return JSON.stringify({ keytype: 'CONTEXT', tenant: TENANT, context: record.context, magic: 0 })
    case 'config':
    case 'mode':
    case 'delete-subject':
    case 'clear-subject': {
      const keytype = record.kind.toUpperCase().replace('-', '_')
      return JSON.stringify({ keytype, ...subjectMember(record.subject), magic: 0 })
    }
  }
}

function valueMembers(record: Exclude<RegistryRecord, { kind: 'none' }>): RecordMembers | null {
  switch (record.kind) {
    case 'schema':
      return record.value && schemaValue(record.value)
    case 'config':
      return record.value && { ...subjectMember(record.subject), ...record.value }
    case 'mode':
      return record.value && { ...subjectMember(record.subject), mode: record.value }
    case 'delete-subject':
      return { subject: record.subject, version: record.version }
    case 'clear-subject':
      return subjectMember(record.subject)
    case 'association':
      return record.value && associationValue(record.value)
    case 'context':
      return record.known ? { tenant: TENANT, context: record.context } : null
  }
}

function subjectMember(subject: Subject | null): RecordMembers {
  return subject === null ? {} : { subject }
}

/** `schemaType` is omitted for AVRO, which all versions of Confluent's registry assume if it is absent. */
function schemaValue({ subject, version, id, content, deleted, extra }: StoredSchema): RecordMembers {
  const { md5, ...unknown } = extra
  return {
    subject,
    version,
    id,
    ...(md5 === undefined ? {} : { md5 }),
    ...(content.type === 'AVRO' ? {} : { schemaType: content.type }),
    ...(content.references.length === 0 ? {} : { references: content.references }),
    ...(content.metadata ? { metadata: content.metadata } : {}),
    ...(content.ruleSet ? { ruleSet: content.ruleSet } : {}),
    ...unknown,
    schema: content.text,
    deleted,
  }
}

// ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function toRecord(key: RecordMembers, value: RecordMembers | null): RegistryRecord {
  const subject = nullableSubject(key['subject'])
  switch (key['keytype']) {
    case 'CONFIG':
      return { kind: 'config', subject, value: value && toConfig(value) }
    case 'MODE':
      return { kind: 'mode', subject, value: value && toMode(value['mode']) }
    case 'DELETE_SUBJECT':
      if (!value || subject === null) return { kind: 'none' }
      return { kind: 'delete-subject', subject, version: toInteger(value['version'], 'version') }
    case 'CLEAR_SUBJECT':
      return value ? { kind: 'clear-subject', subject } : { kind: 'none' }
    case 'CONTEXT':
      return { kind: 'context', context: toText(key['context'], 'context'), known: value !== null }
    case 'ASSOC':
      return toAssociationRecord(key, value)
    case 'NOOP':
      return { kind: 'none' }
    default:
      throw new Error(`its key type '${String(key['keytype'])}' is unknown`)
  }
}

const SCHEMA_MEMBERS: ReadonlySet<string> = new Set([
  'subject',
  'version',
  'id',
  'schemaType',
  'references',
  'metadata',
  'ruleSet',
  'schema',
  'deleted',
])

const NONE: RecordMembers = Object.freeze({})
const NO_REFERENCES: readonly SchemaReference[] = Object.freeze([])

function toSchemaRecord(key: RecordMembers, valueText: string | null): RegistryRecord {
  const magic = key['magic'] ?? 0
  if (magic !== 0 && magic !== 1) throw new Error(`its key has magic ${String(magic)}; supported are 0 and 1`)
  const subject = toSubject(toText(key['subject'], 'subject'))
  const version = toInteger(key['version'], 'version')
  if (valueText === null) return { kind: 'schema', subject, version, value: null }
  let id: number | undefined
  try {
    const value = membersOf(valueText, 'value')
    id = toInteger(value['id'], 'id')
    const extra = unknownMembers(value)
    const content = toContent(value, extra['md5'])
    const deleted = value['deleted'] === true
    return { kind: 'schema', subject, version, value: { subject, version, id, content, deleted, extra } }
  } catch (error) {
    throw new UnreadableVersionError({ subject, version, id }, error)
  }
}

/** Most records have no unknown members; they share one empty object to save memory. */
function unknownMembers(value: RecordMembers): RecordMembers {
  const members = Object.keys(value)
  if (members.every((member) => SCHEMA_MEMBERS.has(member))) return NONE
  const unknown = members.filter((member) => !SCHEMA_MEMBERS.has(member))
  return Object.fromEntries(unknown.map((member) => [member, value[member]]))
}

function toContent(value: RecordMembers, md5: unknown): SchemaContent {
  const text = toText(value['schema'], 'schema')
  const references = value['references'] ? toReferences(value['references']) : NO_REFERENCES
  // A schema without its rules must not be served: clients would write what they have to encrypt.
  const metadata = value['metadata'] ? (parsed(metadataSpec, value['metadata'], 'metadata') as Metadata) : undefined
  const ruleSet = value['ruleSet'] ? (parsed(ruleSetSpec, value['ruleSet'], 'rule set') as RuleSet) : undefined
  return {
    guid: typeof md5 === 'string' ? toUuid(md5) : guidOf({ text, references, metadata, ruleSet }),
    type: (value['schemaType'] ?? 'AVRO') as FormatType,
    text,
    references,
    metadata,
    ruleSet,
  }
}

function toReferences(value: unknown): readonly SchemaReference[] {
  const isReference = (one: unknown) => {
    const { name, subject, version } = Object(one) as Partial<Record<keyof SchemaReference, unknown>>
    return typeof name === 'string' && typeof subject === 'string' && Number.isInteger(version)
  }
  if (Array.isArray(value) && value.every(isReference)) return value as readonly SchemaReference[]
  throw new Error('its references are invalid')
}

/** Null entries, which Java permits in maps and lists, are omitted. */
function parsed(spec: ZodType, value: unknown, what: string): unknown {
  const found = spec.safeParse(value)
  if (found.success) return found.data
  const { success, data, error } = spec.safeParse(withoutNulls(value))
  if (success) return data
  throw new Error(`its ${what} is invalid: ${error.issues[0]?.path.join('.')}`)
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === null ? [] : [[name, withoutNulls(member)]])),
  )
}

function toMode(word: unknown): Mode {
  const mode = REGISTRY_MODES.find((known) => known === word)
  if (!mode) throw new Error(`its mode '${String(word)}' is unknown`)
  return mode
}

function nullableSubject(value: unknown): Subject | null {
  return typeof value === 'string' ? toSubject(value) : null
}

function toInteger(value: unknown, member: string): number {
  if (!Number.isInteger(value)) throw new Error(`its ${member} is not an integer`)
  return value as number
}
