import { javaText } from '../../../java-compat/java-text.ts'
import { DataError, type SinkRecord } from '../../../sdk/index.ts'
import { type TimeZone, UTC } from '../jdbc/time-zone.ts'
import { checkKey, type ObjectNames } from './object-names.ts'
import type { Partitioner } from './partitioner.ts'
import type { TimestampExtractor } from './timestamp-extractor.ts'

type Unit = 'yyyy' | 'MM' | 'dd' | 'HH'

type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'topic' | 'key' }
  | { readonly kind: 'partition' | 'start_offset'; readonly digits: number }
  | { readonly kind: 'timestamp'; readonly unit: Unit }
  /** The date of the clock, in UTC or in the time zone of the worker. */
  | { readonly kind: 'utc_date' | 'local_date' }

const PARTITION_DIGITS = 10
const OFFSET_DIGITS = 20

/**
 * A template for the keys of objects as of Aiven's connectors, such as `{{topic}}-{{partition}}-{{start_offset:padding=true}}`. Throws an
 * `Error` for variables that it does not know.
 */
export class FileTemplate {
  readonly #parts: readonly TemplatePart[]

  constructor(text: string) {
    this.#parts = [...partsOf(text)]
  }

  has(...kinds: readonly TemplatePart['kind'][]): boolean {
    return kinds.some((kind) => this.#parts.some((part) => part.kind === kind))
  }

  /** The variables of the file of a record, except those of its partition and offset, as JSON. */
  partitioner(
    timestamp: TimestampExtractor,
    zones: { readonly timestamp: TimeZone; readonly local: TimeZone },
  ): Partitioner {
    const stamped = this.has('timestamp')
    const dated = this.has('utc_date', 'local_date')
    const hasKey = this.has('key')
    return (record, clockMs) => {
      if (!stamped && !dated && !hasKey) return { path: '', period: '', timestampMs: undefined }
      const period = [
        ...(stamped ? [wallText(timestamp(record, clockMs), zones.timestamp).slice(0, HOUR_LETTERS)] : []),
        ...(dated ? [wallText(clockMs, UTC), wallText(clockMs, zones.local)].map(dateOf) : []),
      ]
      const path: readonly string[] = hasKey ? [...period, keyText(record)] : period
      return { path: JSON.stringify(path), period: period.join(' '), timestampMs: undefined }
    }
  }

  names(): ObjectNames {
    return {
      hasTags: false,
      pathOf: (_, path) => path,
      keyOf: (record, path) => checkKey(this.#render(record, path)),
      prefixOf: (topic) => this.#prefixOf(topic),
      isOfPartition: (key, topic, partition) => this.#showsPartition && this.#matches(key, topic, partition),
      tags: () => ({}),
    }
  }

  #render(record: SinkRecord, path: string): string {
    const values = path === '' ? [] : (JSON.parse(path) as readonly string[])
    return this.#parts.map((part) => this.#textOf(part, record, values)).join('')
  }

  /** `values`: the variables of the path of `partitioner`. */
  #textOf(part: TemplatePart, { topic, origin }: SinkRecord, values: readonly string[]): string {
    const dates = this.has('timestamp') ? 1 : 0
    switch (part.kind) {
      case 'text':
        return part.text
      case 'topic':
        return topic
      case 'partition':
        return String(origin.partition).padStart(part.digits, '0')
      case 'start_offset':
        return String(origin.offset).padStart(part.digits, '0')
      case 'timestamp':
        return unitOf(values[0]!, part.unit)
      case 'utc_date':
        return values[dates]!
      case 'local_date':
        return values[dates + 1]!
      case 'key':
        return values.at(-1)!
    }
  }

  #prefixOf(topic: string): string {
    let prefix = ''
    for (const part of this.#parts) {
      if (part.kind === 'text') prefix += part.text
      else if (part.kind === 'topic') prefix += topic
      else break
    }
    return prefix
  }

  /** Whether the place of the partition in a key is certain: no key of a record, which is any text, and no digits beside it. */
  get #showsPartition(): boolean {
    const at = this.#parts.findIndex(({ kind }) => kind === 'partition')
    const [before, after] = [this.#parts[at - 1], this.#parts[at + 1]]
    const ends = before === undefined || (before.kind === 'text' && /\D$/.test(before.text))
    const begins = after === undefined || (after.kind === 'text' && /^\D/.test(after.text))
    return at >= 0 && ends && begins && !this.has('key')
  }

  #matches(key: string, topic: string, partition: number): boolean {
    let at = 0
    for (const part of this.#parts) {
      const length = lengthOf(part, key, at, { topic, partition })
      if (length === undefined) return false
      at += length
    }
    return at === key.length
  }
}

/** The number of letters of a part at a position of a key; undefined if others are there. */
function lengthOf(
  part: TemplatePart,
  key: string,
  at: number,
  { topic, partition }: { readonly topic: string; readonly partition: number },
): number | undefined {
  const fixed = (text: string) => (key.startsWith(text, at) ? text.length : undefined)
  switch (part.kind) {
    case 'text':
      return fixed(part.text)
    case 'topic':
      return fixed(topic)
    case 'partition':
      return fixed(String(partition).padStart(part.digits, '0'))
    case 'timestamp':
      return part.unit.length
    case 'start_offset':
      return /^\d+/.exec(key.slice(at))?.[0].length
    case 'utc_date':
    case 'local_date':
      return DATE_LETTERS
    case 'key':
      return undefined
  }
}

/** Letters of `2026-01-31T23`. */
const HOUR_LETTERS = 13
const DATE_LETTERS = 10

function wallText(ms: number, zone: TimeZone): string {
  const wall = new Date(ms + zone.offsetMs(ms))
  const year = wall.getUTCFullYear()
  if (!(year >= 0 && year <= 9999)) throw new DataError(`the timestamp ${ms} is not a time in ms: it is out of range`)
  return wall.toISOString()
}

function dateOf(wall: string): string {
  return wall.slice(0, DATE_LETTERS)
}

function unitOf(wall: string, unit: Unit): string {
  const at = { yyyy: 0, MM: 5, dd: 8, HH: 11 }[unit]
  return wall.slice(at, at + unit.length)
}

function keyText({ key, keySchema }: SinkRecord): string {
  if (key instanceof Uint8Array)
    throw new DataError('a key that is bytes cannot name a file: use StringConverter as key.converter')
  return javaText(key, keySchema)
}

function* partsOf(template: string): Generator<TemplatePart> {
  let position = 0
  for (const match of template.matchAll(/\{\{\s*([\w:=]*)\s*\}\}/g)) {
    const text = template.slice(position, match.index)
    if (text !== '') yield { kind: 'text', text }
    yield variable(match[1]!)
    position = match.index + match[0].length
  }
  const text = template.slice(position)
  if (text !== '') yield { kind: 'text', text }
}

function variable(text: string): TemplatePart {
  const [, plain] = /^(topic|key|utc_date|local_date)$/.exec(text) ?? []
  if (plain !== undefined) return { kind: plain as 'topic' | 'key' | 'utc_date' | 'local_date' }
  const [, number, padding] = /^(partition|start_offset)(?::padding=(true|false))?$/.exec(text) ?? []
  if (number !== undefined) {
    const digits = number === 'partition' ? PARTITION_DIGITS : OFFSET_DIGITS
    return { kind: number as 'partition' | 'start_offset', digits: padding === 'true' ? digits : 0 }
  }
  const [, unit] = /^timestamp:unit=(yyyy|YYYY|MM|dd|HH)$/.exec(text) ?? []
  if (unit !== undefined) return { kind: 'timestamp', unit: unit === 'YYYY' ? 'yyyy' : (unit as Unit) }
  throw new Error(
    `'{{${text}}}' is not a variable: expected {{topic}}, {{partition}} or {{start_offset}}, also with :padding=true, {{timestamp:unit=yyyy|MM|dd|HH}} or {{key}}`,
  )
}
