import { isObject, type Json, JsonNumber } from '../json-text.ts'
import type { AvroEnum, AvroField, AvroFixed, AvroName, AvroRecord, AvroSchema, Props } from './avro-schema.ts'

/**
 * Whether two schemas are equal as defined by Java's `Schema.equals` and by lookups in Confluent's registry. The order
 * of aliases and of properties such as `precision` and `scale`, and `error` instead of `record`, are ignored.
 * Everything else is compared, including documentation and defaults.
 */
export function avroEquivalent(one: AvroSchema, other: AvroSchema): boolean {
  return equivalent(one, other, new Map())
}

/** The pairs of records that are being compared. A nested occurrence of such a pair counts as equal. */
type Seen = Map<AvroRecord, Set<AvroRecord>>

function equivalent(one: AvroSchema, other: AvroSchema, seen: Seen): boolean {
  if (one === other) return true
  if (one.type === 'union' || other.type === 'union') {
    return one.type === 'union' && other.type === 'union' && sameInOrder(one.branches, other.branches, seen)
  }
  if (one.type !== other.type || !sameProps(one.props, other.props)) return false
  switch (one.type) {
    case 'array':
      return equivalent(one.items, (other as typeof one).items, seen)
    case 'map':
      return equivalent(one.values, (other as typeof one).values, seen)
    case 'record':
      return sameRecord(one, other as AvroRecord, seen)
    case 'enum':
      return sameEnum(one, other as AvroEnum)
    case 'fixed':
      return sameNamed(one, other as AvroFixed) && one.size === (other as AvroFixed).size
    default:
      return true
  }
}

function sameInOrder(ones: readonly AvroSchema[], others: readonly AvroSchema[], seen: Seen): boolean {
  return ones.length === others.length && ones.every((one, at) => equivalent(one, others[at] as AvroSchema, seen))
}

function sameRecord(one: AvroRecord, other: AvroRecord, seen: Seen): boolean {
  const compared = seen.get(one) ?? new Set()
  if (compared.has(other)) return true
  seen.set(one, compared.add(other))
  return (
    sameNamed(one, other) &&
    one.fields.length === other.fields.length &&
    one.fields.every((field, at) => sameField(field, other.fields[at] as AvroField, seen))
  )
}

function sameField(one: AvroField, other: AvroField, seen: Seen): boolean {
  return (
    one.name === other.name &&
    one.doc === other.doc &&
    one.order === other.order &&
    sameMembers(one.aliases, other.aliases) &&
    sameJson(one.default, other.default) &&
    sameProps(one.props, other.props) &&
    equivalent(one.schema, other.schema, seen)
  )
}

function sameEnum(one: AvroEnum, other: AvroEnum): boolean {
  return (
    sameNamed(one, other) &&
    one.default === other.default &&
    one.symbols.length === other.symbols.length &&
    one.symbols.every((symbol, at) => symbol === other.symbols[at])
  )
}

function sameNamed(one: AvroRecord | AvroEnum | AvroFixed, other: AvroRecord | AvroEnum | AvroFixed): boolean {
  const full = ({ full: name }: AvroName) => name
  return (
    one.name.full === other.name.full &&
    one.doc === other.doc &&
    sameMembers(one.aliases.map(full), other.aliases.map(full))
  )
}

function sameMembers(ones: readonly string[], others: readonly string[]): boolean {
  if (ones.length === 0 && others.length === 0) return true
  const [set, otherSet] = [new Set(ones), new Set(others)]
  return set.size === otherSet.size && [...set].every((one) => otherSet.has(one))
}

function sameProps(one: Props, other: Props): boolean {
  return one.size === other.size && [...one].every(([key, value]) => other.has(key) && sameJson(value, other.get(key)))
}

/** Compares as Jackson does: members in any order; `1` differs from `1.0`, and `1.0` equals `1.00`. */
function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (one instanceof JsonNumber && other instanceof JsonNumber) {
    if (one.isInteger !== other.isInteger) return false
    return one.isInteger ? BigInt(one.literal) === BigInt(other.literal) : Object.is(one.value, other.value)
  }
  if (isObject(one) && isObject(other)) return sameProps(one, other)
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, at) => sameJson(value, other[at]))
  }
  return false
}
