import type avsc from 'avsc'
import { type Json, printJson } from '../json-text.ts'
import { type AvroField, type AvroNamed, type AvroSchema, isNamed } from './avro-schema.ts'
import { avscName } from './avsc-types.ts'

/**
 * Converts a schema for avsc, with the parts that affect the binary encoding: no logical types and no documentation.
 * For a reader, pass the schema of the `writer`; defaults and aliases are then included. Types match by simple name, as
 * in Avro for Java; avsc alone compares full names.
 */
export function toAvsc(schema: AvroSchema, writer?: AvroSchema): avsc.Schema {
  return convert(schema, { seen: new Set(), written: writer && namesIn(writer) }) as avsc.Schema
}

type Context = {
  readonly seen: Set<string>
  /** The full names of the writer's types by simple name; undefined while the writer's schema is converted. */
  readonly written: ReadonlyMap<string, readonly string[]> | undefined
}

function convert(schema: AvroSchema, context: Context): unknown {
  switch (schema.type) {
    case 'union':
      return schema.branches.map((branch) => convert(branch, context))
    case 'array':
      return { type: 'array', items: convert(schema.items, context) }
    case 'map':
      return { type: 'map', values: convert(schema.values, context) }
    case 'record':
    case 'enum':
    case 'fixed':
      return convertNamed(schema, context)
    default:
      return schema.type
  }
}

function convertNamed(schema: AvroNamed, context: Context): unknown {
  const { name } = schema
  if (context.seen.has(name.full)) return name.full
  context.seen.add(name.full)
  const aliases = context.written
    ? [...schema.aliases.map(({ full }) => full), ...(context.written.get(name.simple) ?? [])]
    : []
  const head = { name: name.simple, namespace: name.space, aliases: aliases.filter((alias) => alias !== name.full) }
  switch (schema.type) {
    case 'record':
      return { type: 'record', ...head, fields: schema.fields.map((field) => convertField(field, context)) }
    case 'enum':
      return {
        type: 'enum',
        ...head,
        symbols: schema.symbols.map(avscName),
        ...(schema.default === undefined ? {} : { default: avscName(schema.default) }),
      }
    case 'fixed':
      return { type: 'fixed', ...head, size: schema.size }
  }
}

function convertField(field: AvroField, context: Context): unknown {
  const type = convert(field.schema, context)
  const name = avscName(field.name)
  if (!context.written) return { name, type }
  const fallback = field.default === undefined ? {} : { default: plain(field.default) }
  return { name, type, aliases: field.aliases.map(avscName), ...fallback }
}

function plain(value: Json): unknown {
  return JSON.parse(printJson(value))
}

function namesIn(schema: AvroSchema): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  const seen = new Set<AvroSchema>()
  const visit = (one: AvroSchema): void => {
    if (seen.has(one)) return
    seen.add(one)
    if (isNamed(one)) names.set(one.name.simple, [...(names.get(one.name.simple) ?? []), one.name.full])
    for (const part of partsOf(one)) visit(part)
  }
  visit(schema)
  return names
}

function partsOf(schema: AvroSchema): readonly AvroSchema[] {
  if (schema.type === 'record') return schema.fields.map((field) => field.schema)
  if (schema.type === 'union') return schema.branches
  if (schema.type === 'array') return [schema.items]
  return schema.type === 'map' ? [schema.values] : []
}
