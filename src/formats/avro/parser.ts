import { isObject, type Json, JsonNumber, type JsonObject, parseJson, printJson } from '../json-text.ts'
import { SchemaError } from '../schema-error.ts'
import {
  type AvroField,
  type AvroName,
  type AvroNamed,
  type AvroSchema,
  type AvroUnion,
  avroName,
  branchName,
  isPrimitive,
  type Props,
} from './avro-schema.ts'
import { checkName, checkNamespace } from './check-names.ts'
import { defaultFits } from './default-value.ts'
import { NESTING_MAX, printAvro, printDefinition } from './printer.ts'

const SCHEMA_MEMBERS = new Set([
  'doc',
  'fields',
  'items',
  'name',
  'namespace',
  'size',
  'symbols',
  'values',
  'type',
  'aliases',
])
const ENUM_MEMBERS = new Set([...SCHEMA_MEMBERS, 'default'])
const FIELD_MEMBERS = new Set(['default', 'doc', 'name', 'order', 'type', 'aliases'])
const NO_PROPS: Props = new Map()
const NO_ALIASES: readonly never[] = []
const ORDERS = ['ascending', 'descending', 'ignore'] as const

/**
 * The maximum total length of full names, in characters, and how much it grows with each character of the texts: far more
 * than schemas have. A type repeats the namespace of the enclosing one, so that the total can be quadratic in the length of
 * the text.
 */
const NAMES_MAX = 4_000_000
const NAMES_MAX_PER_CHARACTER = 16

/** A schema that is available once all names of the text are known. */
type Later = () => AvroSchema
/** The placeholder for a schema until all names are known. */
const UNKNOWN: AvroSchema = { type: 'null', props: NO_PROPS }

/**
 * Parses schemas in sequence; each can use the names of the previous ones. A name can be used before its definition.
 * Strict parsing checks names and default values; loose parsing accepts all. Methods throw a `SchemaError`.
 */
export class AvroParser {
  readonly #strict: boolean
  readonly #named = new Map<string, AvroNamed>()
  /** Run when all names of the text are known, to replace the placeholders. `#checks` run after that. */
  #links: (() => void)[] = []
  /** The records that enclose the current position. */
  #open: AvroSchema[] = []
  #checks: (() => void)[] = []
  #nameCharacters = 0
  #nameCharactersMax = NAMES_MAX

  constructor(strict: boolean) {
    this.#strict = strict
  }

  parse(text: string): AvroSchema {
    this.#links = []
    this.#checks = []
    this.#nameCharactersMax += text.length * NAMES_MAX_PER_CHARACTER
    const schema = this.#schema(readJson(text), '')
    for (const link of this.#links) link()
    for (const check of this.#checks) check()
    return schema()
  }

  #schema(json: Json, space: string): Later {
    if (typeof json === 'string') return this.#byName(json, space)
    if (Array.isArray(json)) return this.#union(json, space)
    if (!isObject(json)) throw new SchemaError(`Schema not yet supported: ${printJson(json)}`)
    const type = json.get('type')
    if (typeof type !== 'string') throw new SchemaError(`No type: ${printJson(json)}`)
    if (isPrimitive(type)) return always({ type, props: propsOf(json, SCHEMA_MEMBERS) })
    switch (type) {
      case 'record':
      case 'error':
        return always(this.#record(json, space))
      case 'enum':
        return always(this.#enum(json, space))
      case 'fixed':
        return always(this.#fixed(json, space))
      case 'array':
        return this.#array(json, space)
      case 'map':
        return this.#map(json, space)
      default:
        return this.#byName(type, space)
    }
  }

  /** Resolves a name in the enclosing namespace, otherwise as written. */
  #byName(written: string, space: string): Later {
    if (isPrimitive(written)) return always({ type: written, props: NO_PROPS })
    const { full } = this.#name(written, space)
    return () => {
      const found = this.#named.get(full) ?? this.#named.get(written)
      if (!found) throw new SchemaError(`Undefined schema: ${full}`)
      return found
    }
  }

  #union(json: readonly Json[], space: string): Later {
    const branches: AvroSchema[] = []
    const union: AvroUnion = { type: 'union', branches }
    const later = json.map((branch) => this.#schema(branch, space))
    this.#links.push(() => {
      for (const branch of later) branches.push(branch())
    })
    this.#checks.push(() => checkUnion(union))
    return always(union)
  }

  #array(json: JsonObject, space: string): Later {
    const written = json.get('items')
    if (written === undefined) throw new SchemaError(`Array has no items type: ${printJson(json)}`)
    const array = { type: 'array' as const, items: UNKNOWN, props: propsOf(json, SCHEMA_MEMBERS) }
    const items = this.#schema(written, space)
    this.#links.push(() => {
      array.items = items()
    })
    return always(array)
  }

  #map(json: JsonObject, space: string): Later {
    const written = json.get('values')
    if (written === undefined) throw new SchemaError(`Map has no values type: ${printJson(json)}`)
    const map = { type: 'map' as const, values: UNKNOWN, props: propsOf(json, SCHEMA_MEMBERS) }
    const values = this.#schema(written, space)
    this.#links.push(() => {
      map.values = values()
    })
    return always(map)
  }

  #record(json: JsonObject, space: string): AvroNamed {
    const fields: AvroField[] = []
    const record = {
      type: 'record',
      isError: json.get('type') === 'error',
      ...this.#head(json, space),
      fields,
    } as const
    this.#define(record)
    const written = json.get('fields')
    if (!Array.isArray(written)) throw new SchemaError(`Record has no fields: ${printJson(json)}`)
    const names = new Set<string>()
    this.#open.push(record)
    for (const one of written as readonly Json[]) {
      const field = this.#field(one, record.name)
      if (names.has(field.name)) throw new SchemaError(`Duplicate field ${field.name} in record ${record.name.full}`)
      names.add(field.name)
      fields.push(field)
    }
    this.#open.pop()
    return record
  }

  #field(json: Json, record: AvroName): AvroField {
    const object = isObject(json) ? json : new Map<string, Json>()
    const name = object.get('name')
    if (typeof name !== 'string') throw new SchemaError(`No field name: ${printJson(json)}`)
    if (this.#strict) checkName(name)
    const type = object.get('type')
    if (type === undefined) throw new SchemaError(`No field type: ${printJson(json)}`)
    const field = {
      name,
      schema: UNKNOWN,
      doc: textOf(object.get('doc')),
      default: object.get('default'),
      order: orderOf(object.get('order')),
      aliases: unique(aliasesOf(object), (alias) => alias),
      props: propsOf(object, FIELD_MEMBERS),
    }
    const schema = this.#schema(type, record.space)
    this.#links.push(() => {
      field.schema = schema()
      field.default = settledDefault(field)
    })
    if (this.#strict && field.default !== undefined) {
      const open = new Set(this.#open)
      this.#checks.push(() => checkDefault(field, open))
    }
    return field
  }

  #enum(json: JsonObject, space: string): AvroNamed {
    const written = json.get('symbols')
    if (!Array.isArray(written)) throw new SchemaError(`Enum has no symbols: ${printJson(json)}`)
    const symbols = (written as readonly Json[]).map((symbol) => {
      if (typeof symbol !== 'string') throw new SchemaError('Null name')
      if (this.#strict) checkName(symbol)
      return symbol
    })
    const known = new Set<string>()
    for (const symbol of symbols) {
      if (known.has(symbol)) throw new SchemaError(`Duplicate enum symbol: ${symbol}`)
      known.add(symbol)
    }
    const fallback = textOf(json.get('default'))
    if (fallback !== undefined && !known.has(fallback)) {
      throw new SchemaError(`The Enum Default: ${fallback} is not in the enum symbol set: [${symbols.join(', ')}]`)
    }
    return this.#define({ type: 'enum', ...this.#head(json, space, ENUM_MEMBERS), symbols, default: fallback })
  }

  #fixed(json: JsonObject, space: string): AvroNamed {
    const size = json.get('size')
    if (!(size instanceof JsonNumber && size.isInteger && size.value < 2 ** 31)) {
      throw new SchemaError(`Invalid or no size: ${printJson(json)}`)
    }
    if (size.value < 0) throw new SchemaError(`Malformed data. Length is negative: ${size.value}`)
    return this.#define({ type: 'fixed', ...this.#head(json, space), size: size.value })
  }

  #head(json: JsonObject, space: string, members = SCHEMA_MEMBERS) {
    const written = json.get('name')
    if (typeof written !== 'string') throw new SchemaError(`No name in schema: ${printJson(json)}`)
    const name = this.#name(written, textOf(json.get('namespace')) ?? space)
    const named = aliasesOf(json).map((alias) => this.#name(alias, name.space))
    const aliases = unique(named, ({ full }) => full)
    if (this.#strict) {
      // An enclosing type has checked its own namespace.
      if (name.space !== space) checkNamespace(name.space)
      for (const { simple } of [name, ...aliases]) checkName(simple)
    }
    if (isPrimitive(name.full)) throw new SchemaError(`Schemas may not be named after primitives: ${name.full}`)
    return { name, doc: textOf(json.get('doc')), aliases, props: propsOf(json, members) }
  }

  #name(written: string, space: string): AvroName {
    const name = avroName(written, space)
    this.#nameCharacters += name.full.length
    const max = this.#nameCharactersMax
    if (this.#nameCharacters > max)
      throw new SchemaError(`the names of types, with their namespaces, have more than ${max} characters in total`)
    return name
  }

  /** Registers a named type. A repeated identical definition is allowed; a different one throws a `SchemaError`. */
  #define(schema: AvroNamed): AvroNamed {
    const { full } = schema.name
    const known = this.#named.get(full)
    if (!known) {
      this.#named.set(full, schema)
      return schema
    }
    this.#checks.push(() => {
      if (printDefinition(known) !== printDefinition(schema)) throw new SchemaError(`Can't redefine: ${full}`)
    })
    return schema
  }
}

function readJson(text: string): Json {
  try {
    return parseJson(text, { comments: true, depthMax: NESTING_MAX })
  } catch (error) {
    throw new SchemaError((error as Error).message, { cause: error })
  }
}

function always(schema: AvroSchema): Later {
  return () => schema
}

/** As in Java, the default of a float or a double can be a number in quotes. */
function settledDefault({ schema, default: written }: AvroField): Json | undefined {
  const isText = typeof written === 'string' && (schema.type === 'float' || schema.type === 'double')
  return isText ? numberInText(written) : written
}

function checkDefault(field: AvroField, open: ReadonlySet<AvroSchema>): void {
  if (field.default === undefined || defaultFits(field.schema, field.default, open)) return
  const wanted = printAvro(field.schema)
  throw new SchemaError(`Invalid default for field ${field.name}: ${printJson(field.default)} not a ${wanted}`)
}

function checkUnion({ branches }: AvroUnion): void {
  const names = new Set<string>()
  for (const branch of branches) {
    if (branch.type === 'union') throw new SchemaError('Nested union')
    const name = branchName(branch)
    if (names.has(name)) throw new SchemaError(`Duplicate in union:${name}`)
    names.add(name)
  }
}

function propsOf(json: JsonObject, known: ReadonlySet<string>): Props {
  let props: Map<string, Json> | undefined
  for (const [member, value] of json) {
    if (known.has(member)) continue
    props ??= new Map()
    props.set(member, value)
  }
  return props ?? NO_PROPS
}

function textOf(json: Json | undefined): string | undefined {
  return typeof json === 'string' ? json : undefined
}

function aliasesOf(json: JsonObject): readonly string[] {
  const aliases = json.get('aliases')
  if (aliases === undefined) return NO_ALIASES
  if (!Array.isArray(aliases)) throw new SchemaError(`aliases not an array: ${printJson(json)}`)
  return (aliases as readonly Json[]).map((alias) => {
    if (typeof alias !== 'string') throw new SchemaError(`alias not a string: ${printJson(alias)}`)
    return alias
  })
}

/** Each value once, at the place of the first one with its key, and equal to the last one. */
function unique<Value>(values: readonly Value[], keyOf: (value: Value) => string): readonly Value[] {
  if (values.length === 0) return NO_ALIASES
  return [...new Map(values.map((value) => [keyOf(value), value])).values()]
}

function orderOf(json: Json | undefined): AvroField['order'] {
  if (json === undefined) return 'ascending'
  const order = typeof json === 'string' ? ORDERS.find((word) => word === json.toLowerCase()) : undefined
  if (!order) throw new SchemaError(`Unknown field order: ${printJson(json)}`)
  return order
}

function numberInText(text: string): Json {
  if (['NaN', 'Infinity', '-Infinity'].includes(text)) return text
  const value = text.trim() === '' ? Number.NaN : Number(text)
  if (Number.isNaN(value)) throw new SchemaError(`Invalid default: "${text}" is not a number`)
  return new JsonNumber(Number.isInteger(value) ? `${text.trim()}e0` : text.trim())
}
