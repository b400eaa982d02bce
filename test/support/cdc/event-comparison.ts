import type { StoredRecord } from '../../../src/broker/broker.ts'

/** The parsed record of a topic. Numbers keep their digits, because longs do not fit in a number. */
export type ChangeEvent = {
  readonly key: unknown
  readonly value: unknown
  readonly headers: readonly (readonly [name: string, value: unknown])[]
}

/** Members that may differ between two connectors, with the reason. */
export type Allowance = {
  /** Names of members from the root of the event, as in `value.payload.ts_ms` and `headers.NAME.payload`. */
  readonly path: string | RegExp
  readonly why: string
  /** Default: in all events. */
  readonly appliesTo?: (event: ChangeEvent) => boolean
  /** The side that may have null. Default: both must have a value, of the same type. */
  readonly isNull?: 'left' | 'right'
  /** Whether the values of the left and the right connector may differ in this way, as texts. Default: in any way. */
  readonly accepts?: (left: string, right: string) => boolean
}

/** Events that only the right connector writes, with the reason. */
export type ExtraEvents = {
  readonly why: string
  /** Whether a configuration has such events. */
  readonly appliesTo: (config: Readonly<Record<string, string>>) => boolean
  /** The topic without the prefix. */
  readonly topic: RegExp
  readonly isExtra: (event: ChangeEvent) => boolean
}

export type Difference = { readonly path: string; readonly left: unknown; readonly right: unknown }

/** The digits of a JSON number. */
class Digits {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): string {
    return `#${this.text}`
  }

  toString(): string {
    return this.text
  }
}

/** Parses a record of a `JsonConverter`. The prefix of the topics, which is also in names of schemas, is replaced. */
export function parseEvent({ key, value, headers }: StoredRecord, prefix: string): ChangeEvent {
  const parse = (bytes: Uint8Array | null) =>
    bytes === null ? null : sortCollections(parseExactly(replacePrefix(bytes, prefix)))
  return { key: parse(key), value: parse(value), headers: headers.map(([name, content]) => [name, parse(content)]) }
}

/** Compares events, and remembers which allowances were needed. */
export class EventComparison {
  readonly #allowances: readonly Allowance[]
  readonly #extras: readonly ExtraEvents[]
  readonly #used = new Set<Allowance | ExtraEvents>()

  constructor(allowances: readonly Allowance[], extras: readonly ExtraEvents[] = []) {
    this.#allowances = allowances
    this.#extras = extras
  }

  /** The events of the right connector without those that the left one is not expected to write. */
  expected(
    config: Readonly<Record<string, string>>,
    topic: string,
    events: readonly ChangeEvent[],
  ): readonly ChangeEvent[] {
    const applicable = this.#extras.filter((extra) => extra.appliesTo(config) && extra.topic.test(topic))
    return events.filter((event) => {
      const found = applicable.find(({ isExtra }) => isExtra(event))
      if (found !== undefined) this.#used.add(found)
      return found === undefined
    })
  }

  /** The members that differ in a way that is not allowed. */
  differences(left: ChangeEvent, right: ChangeEvent): readonly Difference[] {
    const isAllowed = (path: string, one: unknown, other: unknown) => this.#isAllowed(left, path, one, other)
    return compare('', byName(left), byName(right), isAllowed)
  }

  /** The reasons of allowances that no event has needed. */
  unused(): readonly string[] {
    return [...this.#allowances, ...this.#extras].filter((one) => !this.#used.has(one)).map(({ why }) => why)
  }

  #isAllowed(event: ChangeEvent, path: string, left: unknown, right: unknown): boolean {
    const found = this.#allowances.filter(
      (allowance) => accepts(allowance, path, left, right) && (allowance.appliesTo?.(event) ?? true),
    )
    for (const allowance of found) this.#used.add(allowance)
    return found.length > 0
  }
}

function accepts(
  { path: allowed, isNull, accepts: isAccepted }: Allowance,
  path: string,
  left: unknown,
  right: unknown,
) {
  const isNamed = typeof allowed === 'string' ? allowed === path : allowed.test(path)
  const isOfKind =
    isNull === undefined
      ? kindOf(left) === kindOf(right)
      : (left === null ? 'left' : right === null ? 'right' : '') === isNull
  return isNamed && isOfKind && (isAccepted?.(String(left), String(right)) ?? true)
}

type IsAllowed = (path: string, left: unknown, right: unknown) => boolean

/** Headers as members, so that a path has their names. A name that occurs again has a number. */
function byName({ key, value, headers }: ChangeEvent): object {
  const names = headers.map(([name]) => name)
  const numbered = names.map((name, at) => (names.indexOf(name) === at ? name : `${name} ${at}`))
  return { key, value, headers: Object.fromEntries(headers.map(([, one], at) => [numbered[at]!, one])) }
}

function compare(path: string, left: unknown, right: unknown, isAllowed: IsAllowed): readonly Difference[] {
  if (isEqual(left, right)) return []
  if (isAllowed(path, left, right)) return []
  if (!isTree(left) || !isTree(right)) return [{ path, left, right }]
  const [names, others] = [Object.keys(left), Object.keys(right)]
  const members = names
    .filter((name) => Object.hasOwn(right, name))
    .flatMap((name) =>
      compare(path === '' ? name : `${path}.${name}`, Reflect.get(left, name), Reflect.get(right, name), isAllowed),
    )
  const own = { path: `${path} (members)`, left: names.join(), right: others.join() }
  return own.left === own.right || isAllowed(own.path, own.left, own.right) ? members : [own, ...members]
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Digits)
}

function isEqual(left: unknown, right: unknown): boolean {
  return left instanceof Digits && right instanceof Digits ? left.text === right.text : left === right
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : typeof value
}

function replacePrefix(bytes: Uint8Array, prefix: string): string {
  // Names of schemas have the second form with schema.name.adjustment.mode=avro_unicode.
  return Buffer.from(bytes)
    .toString()
    .replaceAll(prefix, 'PREFIX')
    .replaceAll(prefix.replaceAll('_', '_u005f'), 'PREFIX')
}

/** Like `JSON.parse`; TypeScript does not declare the third parameter of a reviver yet. */
function parseExactly(text: string): unknown {
  const reviver = (_: string, value: unknown, { source }: { readonly source: string }) =>
    typeof value === 'number' ? new Digits(source) : value
  return JSON.parse(text, reviver as (name: string, value: unknown) => unknown)
}

/**
 * Sorts the counts in the event of the end of a transaction: Debezium has the order of a hash table, in which each logical message is a
 * collection with a random name.
 */
function sortCollections(envelope: unknown): unknown {
  const payload: unknown = Reflect.get(Object(envelope), 'payload')
  const collections: unknown = Reflect.get(Object(payload), 'data_collections')
  if (!Array.isArray(collections)) return envelope
  const counts = new Map<string, number>()
  for (const { data_collection, event_count } of collections) {
    const name = String(data_collection).replace(/^.*LogicalDecodingMessageId@.*$/, 'message')
    counts.set(name, (counts.get(name) ?? 0) + Number(event_count))
  }
  Object.assign(Object(payload), { data_collections: Object.fromEntries([...counts].toSorted()) })
  return envelope
}
