import { createHash } from 'node:crypto'
import type { SchemaType } from '../formats/format.ts'
import type { SchemaReference } from '../formats/references.ts'
import type { Metadata } from './metadata.ts'
import type { RuleSet } from './rule-set.ts'
import type { Subject } from './subject.ts'

/** What an id stands for. Two contents with one `guid` are the same. */
export type SchemaContent = {
  readonly guid: string
  readonly type: SchemaType
  readonly text: string
  readonly references: readonly SchemaReference[]
  readonly metadata: Metadata | undefined
  readonly ruleSet: RuleSet | undefined
}

/** A content at its place. */
export type SchemaVersion = {
  readonly subject: Subject
  readonly version: number
  readonly id: number
  readonly content: SchemaContent
  readonly deleted: boolean
  /** When its record was written. */
  readonly timestampMs: number
  /** Members of its record that we don't know, `schemaTags` among them: kept when it is written again. */
  readonly extra: Readonly<Record<string, unknown>>
}

/** Gives a content its identity. The rule is the original's: MD5 over text, references, metadata and rules. */
export function toContent(content: Omit<SchemaContent, 'guid'>): SchemaContent {
  return { ...content, guid: guidOf(content) }
}

const MARK = Buffer.from([1])

export function guidOf({ text, references, metadata, ruleSet }: Omit<SchemaContent, 'guid'>): string {
  const hash = createHash('md5').update(text, 'utf8')
  for (const { name, subject, version } of references) {
    const number = Buffer.alloc(4)
    number.writeInt32BE(version)
    hash.update(name, 'utf8').update(subject, 'utf8').update(number)
  }
  if (metadata) {
    hash.update(MARK)
    for (const word of metadataWords(metadata)) hash.update(word, 'utf8')
  }
  if (ruleSet) {
    hash.update(MARK)
    for (const word of ruleSetWords(ruleSet)) hash.update(word === true ? MARK : Buffer.from(word, 'utf8'))
  }
  return toUuid(hash.digest('hex'))
}

/** 32 hexadecimal digits, with or without hyphens, as a UUID. */
export function toUuid(hex: string): string {
  const digits = hex.replaceAll('-', '').toLowerCase()
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
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

function* ruleSetWords(ruleSet: RuleSet): Generator<string | true> {
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
    if (disabled) yield true
  }
  if (enableAt !== undefined) yield enableAt
}
