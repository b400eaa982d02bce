import type { SchemaLocation } from '../../../formats/json/schema-location.ts'
import type { PlainJson, PlainJsonObject } from '../../../formats/json/schema-model.ts'
import { JsonNumber } from '../../../formats/json-text.ts'
import { expansionLimit } from '../../../java-compat/expansion-limit.ts'
import { inHashOrder } from '../../../java-compat/hash-order.ts'
import { type Exact, jsonReader } from '../../../java-compat/json/connect-json-reader.ts'
import { SUM_TYPE_NAMES } from '../../../java-compat/sum-type-names.ts'
import { DataError, type Field, type Schema, type SchemaType, STRING } from '../../../sdk/index.ts'
import { isChoice, JSON_ENUM, JSON_PROP, KEY, NULL_WORD, ONE_OF, VALUE } from './names.ts'

export type FromJsonSchemaOptions = {
  /** Whether properties that are not in `required` are optional. */
  readonly optionalUnlessRequired: boolean
  /** Whether a `oneOf` or `anyOf` with a single branch becomes that branch instead of a struct with one field. */
  readonly flattenSingletons: boolean
  /** Whether unions and enums are marked with the parameters shared by all formats. */
  readonly generalized: boolean
  /** The schema's version in its subject, for schemas that do not specify one. */
  readonly version: number | undefined
}

type Context = FromJsonSchemaOptions & {
  /** Schemas that are being converted, outermost first. Used to detect recursion. */
  readonly open: readonly PlainJson[]
  readonly choices: { count: number }
  readonly countSchema: () => void
}

/**
 * Converts a JSON schema to a Connect schema. Numbers may be in the form of `parseExact`. Throws a `DataError` if Connect
 * cannot represent it.
 */
export function fromJsonSchema(root: SchemaLocation, options: FromJsonSchemaOptions): Schema {
  return convert(root, {
    ...options,
    open: [],
    choices: { count: 0 },
    countSchema: expansionLimit(),
  })
}

type To = (schema: PlainJson, version?: number) => Schema

/** `context.version` applies only to the outermost schema. */
function convert(at: SchemaLocation, context: Context): Schema {
  context.countSchema()
  const { value } = at
  if (!isObject(value)) throw new DataError('a JSON schema without a type has no Connect schema')
  const part: Part = { at, value }
  const inner: Context = { ...inside(part, context), version: undefined }
  const to: To = (next, version) => convert(at.child(next), { ...inner, version })
  const [reference] = at.references
  if (reference) return convert(reference.find(), { ...inner, version: context.version })
  const parts = partsOf(value)
  if (parts.length > 1 || value['allOf'] !== undefined) {
    return merged(
      parts.map((one) => partOf(at.child(one))),
      inner,
      context.version,
    )
  }
  const branches = listOf(value['oneOf']) ?? listOf(value['anyOf']) ?? typesOf(value)
  if (branches !== undefined) return choice(branches, value, to, context)
  return described(typed(part, to, inner), value, context.version)
}

/** Marks a schema as being converted. Throws a `DataError` if the schema contains itself. */
function inside({ value }: Part, context: Context): Context {
  if (context.open.includes(value)) throw new DataError('recursive JSON schemas are not supported')
  return { ...context, open: [...context.open, value] }
}

const COMBINING = ['allOf', 'anyOf', 'oneOf', 'enum', 'const', 'not'] as const

/** Splits a schema with several combining keywords into one part per keyword, as if they were members of an `allOf`. */
function partsOf(value: PlainJsonObject): readonly PlainJsonObject[] {
  const combined = COMBINING.filter((key) => value[key] !== undefined)
  const rest = Object.fromEntries(
    Object.entries(value).filter(([key]) => !(COMBINING as readonly string[]).includes(key)),
  )
  const own = typeOf(rest) === undefined ? [] : [rest]
  const parts = [...combined.map((key) => ({ [key]: value[key] }) as PlainJsonObject), ...own]
  return parts.length > 1 ? parts : [value]
}

function typesOf({
  type,
  title: _,
  description: __,
  default: ___,
  ...rest
}: PlainJsonObject): readonly PlainJson[] | undefined {
  return listOf(type)?.map((one) => ({ ...rest, type: one }))
}

/**
 * With one non-null branch beside null, returns it as optional. Otherwise returns a struct with one field per branch.
 */
function choice(branches: readonly PlainJson[], about: PlainJsonObject, to: To, context: Context): Schema {
  const present = branches.filter((branch) => !(isObject(branch) && branch['type'] === 'null'))
  const optional = present.length < branches.length
  const [only] = present
  if (only === undefined) throw new DataError('a JSON schema with only the type null has no Connect schema')
  if (branches.length === 1 && context.flattenSingletons) return to(only)
  if (present.length === 1 && branches.length === 2) return { ...to(only, context.version), optional: true }
  const { name, parameters, field } = choiceNames(context)
  const fields = present.map(
    (branch, index): Field => ({ name: `${field}${index}`, schema: { ...to(branch), optional: true } }),
  )
  const { title: _, ...unnamed } = about
  const schema: Schema = {
    type: 'struct',
    name,
    fields,
    ...(parameters && { parameters }),
    ...(optional && { optional }),
  }
  return described(schema, unnamed, context.version)
}

function choiceNames({ generalized, choices }: Context) {
  if (!generalized) return { name: ONE_OF, field: `${ONE_OF}.field.` }
  const name = `${SUM_TYPE_NAMES.unionName}${choices.count}`
  choices.count += 1
  return { name, field: SUM_TYPE_NAMES.fieldName, parameters: { [SUM_TYPE_NAMES.union]: name } }
}

/** A part of a schema: a location whose value is an object. */
type Part = { readonly at: SchemaLocation; readonly value: PlainJsonObject }

/** A boolean schema has no keywords. */
function partOf(at: SchemaLocation): Part {
  return isObject(at.value) ? { at, value: at.value } : { at: at.child({}), value: {} }
}

/**
 * Merges parts that all apply. Objects become one struct without a name; otherwise a `oneOf`, `anyOf` or type list
 * takes precedence over a part with a single type.
 */
function merged(parts: readonly Part[], context: Context, version: number | undefined): Schema {
  const all = parts.flatMap((part) => membersOf(part) ?? [part]).map((part) => resolved(part, context))
  const objects = all.flatMap((part) => objectsIn(part, context))
  if (objects.length > 0) {
    const required = objects.flatMap(({ value }) => listOf(value['required']) ?? [])
    return {
      type: 'struct',
      fields: fieldsOf(
        Object.fromEntries(objects.flatMap((part) => Object.entries(propertiesOf(part)))),
        required,
        context,
      ),
    }
  }
  const chosen = all.find(isChoosing) ?? valuesOf(all)
  if (chosen === undefined) throw new DataError('an allOf without a common type has no Connect schema')
  return convert(chosen.at, { ...context, version })
}

/** Returns the members of `allOf`, or undefined if it is absent. */
function membersOf({ value, at }: Part): readonly Part[] | undefined {
  return listOf(value['allOf'])?.map((member) => partOf(at.child(member)))
}

function isChoosing({ value }: Part): boolean {
  return value['oneOf'] !== undefined || value['anyOf'] !== undefined || Array.isArray(value['type'])
}

/** For strings, prefers the part with an `enum`; an `enum` of numbers is ignored. */
function valuesOf(all: readonly Part[]): Part | undefined {
  const text = all.find(({ value }) => typeOf(value) === 'string')
  const number = all.find(({ value }) => typeOf(value) === 'number' || typeOf(value) === 'integer')
  const words = all.find(({ value }) => value['enum'] !== undefined)
  return text === undefined ? number : (words ?? text)
}

/** Follows references until the part is not a reference. */
function resolved(part: Part, context: Context): Part {
  const [reference] = part.at.references
  return reference ? resolved(partOf(reference.find()), inside(part, context)) : part
}

/** Returns the parts with `properties`, including those nested in `allOf`. */
function objectsIn(part: Part, context: Context): readonly Part[] {
  context.countSchema()
  const inner = inside(part, context)
  const within = membersOf(part)?.flatMap((member) => objectsIn(resolved(member, inner), inner)) ?? []
  return isObject(part.value['properties']) ? [...within, part] : within
}

function typed(part: Part, to: To, context: Context): Schema {
  const { value } = part
  const words = listOf(value['enum']) ?? (value['const'] === undefined ? undefined : [value['const']])
  if (words !== undefined) return enumOf(words, context)
  const own = value[JSON_PROP.type]
  switch (typeOf(value)) {
    case 'boolean':
      return { type: 'boolean' }
    case 'integer':
      return { type: known(own, INTEGERS) ?? 'int64' }
    case 'number':
      return { type: known(own, NUMBERS) ?? 'float64' }
    case 'string':
      return { type: own === 'bytes' ? 'bytes' : 'string' }
    case 'array':
      return own === 'map' ? entries(value, to) : { type: 'array', items: to(value['items'] ?? true) }
    case 'object':
      return objectFrom(part, to, context)
    default:
      throw new DataError(`a JSON schema of type ${JSON.stringify(value['type'])} has no Connect schema`)
  }
}

/** Keywords from which the type is inferred if `type` is absent. */
const TELLING: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties', 'maxProperties'],
  array: ['items', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems', 'contains'],
  number: ['minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
}

function typeOf(value: PlainJsonObject): PlainJson | undefined {
  if (value['type'] !== undefined) return value['type']
  return Object.keys(TELLING).find((type) => TELLING[type]?.some((key) => value[key] !== undefined))
}

const INTEGERS = ['int8', 'int16', 'int32', 'int64'] as const
const NUMBERS = [...INTEGERS, 'float32', 'float64', 'bytes'] as const

function known<Type extends SchemaType>(word: PlainJson | undefined, types: readonly Type[]): Type | undefined {
  return types.find((type) => type === word)
}

function enumOf(words: readonly PlainJson[], { generalized }: Context): Schema {
  const texts = words.map((word: Exact) => {
    if (word instanceof JsonNumber) return word.literal
    return word === null ? NULL_WORD : String(word)
  })
  const name = generalized ? SUM_TYPE_NAMES.enum : JSON_ENUM
  const parameters = texts.map((text, index) => [`${name}.${text}`, generalized ? String(index) : text])
  return { type: 'string', parameters: { [name]: '', ...Object.fromEntries(parameters) } }
}

function entries({ items }: PlainJsonObject, to: To): Schema {
  const { properties } = isObject(items) ? items : {}
  const { [KEY]: key, [VALUE]: item } = isObject(properties) ? properties : {}
  if (key === undefined || item === undefined) throw new DataError('the entries of a map have no key and value')
  return { type: 'map', keys: to(key), items: to(item) }
}

function objectFrom(part: Part, to: To, context: Context): Schema {
  const { properties = {}, required, additionalProperties: rest, [JSON_PROP.type]: type } = part.value
  if (type === 'map' || (Object.keys(properties ?? {}).length === 0 && isObject(rest))) {
    return { type: 'map', keys: STRING, items: to(rest ?? true) }
  }
  return { type: 'struct', fields: fieldsOf(propertiesOf(part), listOf(required) ?? [], context) }
}

function propertiesOf({ value, at }: Part): Readonly<Record<string, SchemaLocation>> {
  const members = Object.entries((value['properties'] ?? {}) as PlainJsonObject)
  return Object.fromEntries(members.map(([name, member]) => [name, at.child(member)]))
}

/**
 * Sorts fields by `connect.index`. Fields without an index, from schemas of other tools, take their index in the order
 * of a Java HashMap.
 */
function fieldsOf(
  properties: Readonly<Record<string, SchemaLocation>>,
  required: readonly PlainJson[],
  context: Context,
): readonly Field[] {
  const isOptional = (name: string) => context.optionalUnlessRequired && !required.includes(name)
  return inHashOrder(Object.keys(properties))
    .map((name, index) => ({ name, member: properties[name] as SchemaLocation, index }))
    .map((field) => ({ ...field, index: indexOf(field.member.value) ?? field.index }))
    .sort((a, b) => a.index - b.index)
    .map(({ name, member }): Field => {
      const schema = convert(member, context)
      return { name, schema: isOptional(name) ? { ...schema, optional: true } : schema }
    })
}

function indexOf(member: PlainJson): number | undefined {
  const index = isObject(member) ? member[JSON_PROP.index] : undefined
  return typeof index === 'number' ? index : undefined
}

function described(schema: Schema, value: PlainJsonObject, registered: number | undefined): Schema {
  const {
    title,
    description,
    [JSON_PROP.version]: version = registered,
    [JSON_PROP.parameters]: parameters,
    default: fallback,
  } = value
  const found = {
    ...schema,
    ...(typeof title === 'string' && { name: title }),
    ...(typeof version === 'number' && { version }),
    ...(typeof description === 'string' && { doc: description }),
    ...(isObject(parameters) && { parameters: { ...schema.parameters, ...textsIn(parameters) } }),
  }
  if (fallback === undefined || fallback === null) return found
  const read = jsonReader(found, { nullsToDefaults: false, entries: 'objects', isChoice })
  return { ...found, default: read(fallback as Exact) }
}

function textsIn(members: PlainJsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).filter((member): member is [string, string] => typeof member[1] === 'string'),
  )
}

function listOf(json: PlainJson | undefined): readonly PlainJson[] | undefined {
  return Array.isArray(json) ? (json as readonly PlainJson[]) : undefined
}

function isObject(json: PlainJson | undefined): json is PlainJsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json)
}
