import { hash } from 'node:crypto'
import type { FormatType } from '../../formats/format.ts'
import type { SchemaReference } from '../../formats/references.ts'
import type { RuleSet } from './rule-set.ts'
import type { Metadata } from './schema-metadata.ts'
import type { Subject } from './subject.ts'

/** The content that a schema ID identifies. Contents with the same `guid` are identical, except that their types can differ. */
export type SchemaContent = {
  readonly guid: string
  readonly type: FormatType
  readonly text: string
  readonly references: readonly SchemaReference[]
  readonly metadata: Metadata | undefined
  readonly ruleSet: RuleSet | undefined
}

/** A schema as the client sent it. */
export type SentSchema = Omit<SchemaContent, 'guid'>

/** A version of a subject. */
export type SchemaVersion = {
  readonly subject: Subject
  readonly version: number
  readonly id: number
  readonly content: SchemaContent
  readonly deleted: boolean
  /** The timestamp of the record. */
  readonly timestampMs: number
  /** Members of the record that this registry does not interpret, such as `schemaTags`. They are kept on rewrites. */
  readonly extra: Readonly<Record<string, unknown>>
}

const MARK = Buffer.from([1])

/** The GUID of a content, computed as in Confluent's registry: MD5 over text, references, metadata and rules. */
export function guidOf({ text, references, metadata, ruleSet }: Omit<SchemaContent, 'guid' | 'type'>): string {
  const parts: (string | Buffer)[] = [text]
  for (const { name, subject, version } of references) {
    const number = Buffer.alloc(4)
    number.writeInt32BE(version)
    parts.push(name, subject, number)
  }
  if (metadata) parts.push(MARK, ...metadataWords(metadata))
  if (ruleSet) parts.push(MARK, ...ruleSetWords(ruleSet))
  // Most contents consist of a text only, which does not need to be copied.
  return joinUuid(hash('md5', parts.length === 1 ? text : Buffer.concat(parts.map((part) => Buffer.from(part)))))
}

/** Formats 32 hexadecimal digits, with or without hyphens, as a UUID. */
export function toUuid(hex: string): string {
  const digits = hex.replaceAll('-', '').toLowerCase()
  return digits.length === 32 ? joinUuid(digits) : digits
}

function joinUuid(digits: string): string {
  const [first, second, third] = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(12, 16)]
  return [first, second, third, digits.slice(16, 20), digits.slice(20)].join('-')
}

function* metadataWords({ tags = {}, properties = {}, sensitive = [] }: Metadata): Generator<string> {
  for (const key of Object.keys(tags).sort()) {
    yield key
    yield* [...(tags[key] ?? [])].sort()
  }
  for (const key of Object.keys(properties).sort()) {
    yield key
    yield properties[key] ?? ''
  }
  yield* [...sensitive].sort()
}

function* ruleSetWords(ruleSet: RuleSet): Generator<string | Buffer> {
  const { migrationRules = [], domainRules = [], encodingRules = [], enableAt } = ruleSet
  for (const rule of [...migrationRules, ...domainRules, ...encodingRules]) {
    const { name, doc, kind, mode, type, tags = [], params = {}, expr, onSuccess, onFailure, disabled } = rule
    yield* [name, doc, kind, mode, type].filter((word) => word !== undefined)
    yield* [...tags].sort()
    for (const key of Object.keys(params).sort()) {
      yield key
      yield params[key] ?? ''
    }
    yield* [expr, onSuccess, onFailure].filter((word) => word !== undefined)
    if (disabled) yield MARK
  }
  if (enableAt !== undefined) yield enableAt
}
