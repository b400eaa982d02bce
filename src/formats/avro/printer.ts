import { printJson, printString } from '../json-text.ts'
import { SchemaError } from '../schema-error.ts'
import type { AvroField, AvroName, AvroNamed, AvroSchema, Props } from './avro-schema.ts'

/** A type with one of these simple names is always referenced by its full name. */
const TYPE_WORDS = new Set([
  'record',
  'enum',
  'array',
  'map',
  'union',
  'fixed',
  'string',
  'bytes',
  'int',
  'long',
  'float',
  'double',
  'boolean',
  'null',
])

/**
 * Prints a schema as Java's `Schema.toString()`, which is the text that registries store: no whitespace, members in a
 * fixed order, a namespace only where it changes, a named type in full at its first occurrence. Types in `known` are
 * printed as names. Throws a `SchemaError` if the text would be nested deeper than 1000 levels.
 */
export function printAvro(schema: AvroSchema, known: readonly AvroNamed[] = []): string {
  return print(schema, { seen: new Set(known.map(({ name }) => name.full)), space: '', depth: 0 })
}

/** Prints only this type in full; all other named types are printed as names. */
export function printDefinition(schema: AvroNamed): string {
  const seen = { has: (name: string) => name !== schema.name.full, add: () => {} }
  return print(schema, { seen, space: '', depth: 0 })
}

/** `depth` is the nesting in the JSON text. */
type Scope = {
  readonly seen: { has(name: string): boolean; add(name: string): void }
  readonly space: string
  readonly depth: number
}

/** The maximum nesting of arrays and objects that Jackson, Java's JSON parser, accepts. */
export const NESTING_MAX = 1_000

function deeper(scope: Scope, by: number): Scope {
  const depth = scope.depth + by
  if (depth > NESTING_MAX) throw new SchemaError(`types are nested deeper than ${NESTING_MAX}`)
  return { ...scope, depth }
}

function print(schema: AvroSchema, scope: Scope): string {
  switch (schema.type) {
    case 'union':
      return `[${schema.branches.map((branch) => print(branch, deeper(scope, 1))).join(',')}]`
    case 'array':
      return `{"type":"array","items":${print(schema.items, deeper(scope, 1))}${printProps(schema.props)}}`
    case 'map':
      return `{"type":"map","values":${print(schema.values, deeper(scope, 1))}${printProps(schema.props)}}`
    case 'record':
    case 'enum':
    case 'fixed':
      return printNamed(schema, scope)
    default:
      return schema.props.size === 0 ? `"${schema.type}"` : `{"type":"${schema.type}"${printProps(schema.props)}}`
  }
}

function printNamed(schema: AvroNamed, scope: Scope): string {
  const { name } = schema
  if (scope.seen.has(name.full)) return printString(qualified(name, scope.space))
  scope.seen.add(name.full)
  const type = schema.type === 'record' && schema.isError ? 'error' : schema.type
  const head = `{"type":"${type}","name":${printString(name.simple)}${printSpace(name, scope.space)}${printDoc(schema.doc)}`
  return `${head}${printBody(schema, scope)}${printProps(schema.props)}${printAliases(
    schema.aliases.map((alias) => qualified(alias, name.space)),
  )}}`
}

function printBody(schema: AvroNamed, scope: Scope): string {
  switch (schema.type) {
    case 'record': {
      const inner = deeper({ ...scope, space: schema.name.space }, 3)
      return `,"fields":[${schema.fields.map((field) => printField(field, inner)).join(',')}]`
    }
    case 'enum': {
      const fallback = schema.default === undefined ? '' : `,"default":${printString(schema.default)}`
      return `,"symbols":[${schema.symbols.map(printString).join(',')}]${fallback}`
    }
    case 'fixed':
      return `,"size":${schema.size}`
  }
}

function printField(field: AvroField, scope: Scope): string {
  const fallback = field.default === undefined ? '' : `,"default":${printJson(field.default)}`
  const order = field.order === 'ascending' ? '' : `,"order":"${field.order}"`
  const head = `{"name":${printString(field.name)},"type":${print(field.schema, scope)}${printDoc(field.doc)}`
  return `${head}${fallback}${order}${printAliases(field.aliases)}${printProps(field.props)}}`
}

function printSpace(name: AvroName, enclosing: string): string {
  return name.space === enclosing ? '' : `,"namespace":${printString(name.space)}`
}

function printDoc(doc: string | undefined): string {
  return doc === undefined ? '' : `,"doc":${printString(doc)}`
}

function printAliases(aliases: readonly string[]): string {
  return aliases.length === 0 ? '' : `,"aliases":[${aliases.map(printString).join(',')}]`
}

function printProps(props: Props): string {
  return [...props].map(([key, value]) => `,${printString(key)}:${printJson(value)}`).join('')
}

function qualified(name: AvroName, enclosing: string): string {
  return name.space === enclosing && !TYPE_WORDS.has(name.simple) ? name.simple : name.full
}
