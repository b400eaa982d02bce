import { JsonNumber } from '../json-text.ts'
import type { AvroField, AvroName, AvroNamed, AvroSchema, Props } from './avro-schema.ts'

/**
 * Normalizes a schema: sorts unknown members by name, after those of a logical type; sorts aliases; removes empty
 * documentation; replaces `error` by `record`. The binary encoding does not change.
 */
export function normalizeAvro(schema: AvroSchema): AvroSchema {
  return normalize(schema, new Map())
}

function normalize(schema: AvroSchema, done: Map<AvroNamed, AvroNamed>): AvroSchema {
  switch (schema.type) {
    case 'union':
      return { type: 'union', branches: schema.branches.map((branch) => normalize(branch, done)) }
    case 'array':
      return { type: 'array', items: normalize(schema.items, done), props: sortedProps(schema) }
    case 'map':
      return { type: 'map', values: normalize(schema.values, done), props: sortedProps(schema) }
    case 'record':
    case 'enum':
    case 'fixed':
      return done.get(schema) ?? normalizeNamed(schema, done)
    default:
      return { type: schema.type, props: sortedProps(schema) }
  }
}

function normalizeNamed(schema: AvroNamed, done: Map<AvroNamed, AvroNamed>): AvroNamed {
  const common = { doc: schema.doc || undefined, aliases: sortedAliases(schema.aliases), props: sortedProps(schema) }
  if (schema.type !== 'record') {
    const normal: AvroNamed = { ...schema, ...common }
    done.set(schema, normal)
    return normal
  }
  const fields: AvroField[] = []
  const normal: AvroNamed = { ...schema, ...common, isError: false, fields }
  done.set(schema, normal)
  for (const field of schema.fields) {
    fields.push({
      ...field,
      schema: normalize(field.schema, done),
      aliases: [...field.aliases].sort(),
      props: byName(field.props),
    })
  }
  return normal
}

function sortedAliases(aliases: readonly AvroName[]): readonly AvroName[] {
  return [...aliases].sort((a, b) => (a.full < b.full ? -1 : a.full > b.full ? 1 : 0))
}

function byName(props: Props): Props {
  return new Map([...props].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Sorts properties by name; the logical type, if valid for the type, comes first, with its precision and scale. */
function sortedProps(schema: { readonly type: string; readonly props: Props }): Props {
  const sorted = byName(schema.props)
  const logical = schema.props.get('logicalType')
  if (typeof logical !== 'string' || !isLogicalType(logical, schema)) return sorted
  const first = new Map<string, Props extends ReadonlyMap<string, infer Value> ? Value : never>([
    ['logicalType', logical],
  ])
  if (logical === 'decimal') {
    for (const member of ['precision', 'scale'] as const) {
      const value = schema.props.get(member)
      if (value instanceof JsonNumber && (member === 'precision' || value.value !== 0)) first.set(member, value)
    }
  }
  return new Map([...first, ...sorted])
}

const LOGICAL_TYPES: Readonly<Record<string, readonly string[]>> = {
  date: ['int'],
  'time-millis': ['int'],
  'time-micros': ['long'],
  'timestamp-millis': ['long'],
  'timestamp-micros': ['long'],
  'timestamp-nanos': ['long'],
  'local-timestamp-millis': ['long'],
  'local-timestamp-micros': ['long'],
  'local-timestamp-nanos': ['long'],
  'big-decimal': ['bytes'],
  uuid: ['string', 'fixed'],
  duration: ['fixed'],
  decimal: ['bytes', 'fixed'],
}

function isLogicalType(word: string, schema: { readonly type: string; readonly props: Props }): boolean {
  if (!LOGICAL_TYPES[word]?.includes(schema.type)) return false
  return word !== 'decimal' || isDecimal(schema.props)
}

function isDecimal(props: Props): boolean {
  const precision = props.get('precision')
  const scale = props.get('scale') ?? new JsonNumber('0')
  if (!(precision instanceof JsonNumber && scale instanceof JsonNumber)) return false
  return precision.value > 0 && scale.value >= 0 && scale.value <= precision.value
}
