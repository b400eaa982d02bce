import { hash } from 'node:crypto'
import type { FormatType } from '../../formats/format.ts'
import type { SchemaReference } from '../../formats/references.ts'
import type { Metadata } from './metadata.ts'
import type { RuleSet } from './rule-set.ts'
import type { Subject } from './subject.ts'

/** What an id stands for. Two contents with one `guid` are the same. */
export type SchemaContent = {
  readonly guid: string
  readonly type: FormatType
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

const MARK = Buffer.from([1])

/** The identity of a content. The rule is the original's: MD5 over text, references, metadata and rules. */
export function guidOf({ text, references, metadata, ruleSet }: Omit<SchemaContent, 'guid' | 'type'>): string {
  const parts: (string | Buffer)[] = [text]
  for (const { name, subject, version } of references) {
    const number = Buffer.alloc(4)
    number.writeInt32BE(version)
    parts.push(name, subject, number)
  }
  if (metadata) parts.push(MARK, ...metadataWords(metadata))
  if (ruleSet) parts.push(MARK, ...ruleSetWords(ruleSet))
  // Nearly all are a text alone, which needs no copy.
  return toUuid(hash('md5', parts.length === 1 ? text : Buffer.concat(parts.map((part) => Buffer.from(part)))))
}

const UUID_PARTS = [
  [0, 8],
  [8, 12],
  [12, 16],
  [16, 20],
  [20, 32],
] as const

/** 32 hexadecimal digits, with or without hyphens, as a UUID. */
export function toUuid(hex: string): string {
  const digits = hex.replaceAll('-', '').toLowerCase()
  if (digits.length !== 32) return digits
  // Joined, it is one string; put together by a template it would stay a tree of five, and there is one for each schema.
  return UUID_PARTS.map(([from, to]) => digits.slice(from, to)).join('-')
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
