import { LOGICAL, type Schema } from '../../../sdk/index.ts'
import { jsonWriter } from '../json/write.ts'
import { ENUM, KEY, ONE_OF, PROP, VALUE } from './names.ts'

export type ToJsonSchemaOptions = {
  /** Whether objects may have members that the schema does not name. */
  readonly additional: boolean
  /** Whether members that are not optional are told as required. */
  readonly required: boolean
  readonly decimals: 'BASE64' | 'NUMERIC'
}

type Members = Readonly<Record<string, unknown>>

/** The JSON schema, as text, that Confluent's converter makes of a Connect schema. */
export function toJsonSchemaText(schema: Schema, options: ToJsonSchemaOptions): string {
  return JSON.stringify(toJsonSchema(schema, options))
}

/** `index`: the place among the fields of a struct. An optional schema is one of null and itself. */
function toJsonSchema(schema: Schema, options: ToJsonSchemaOptions, index?: number): Members {
  const place = index === undefined ? {} : { [PROP.index]: index }
  if (schema.name === ONE_OF) return { ...oneOf(schema, options), ...place }
  const own = { ...aboutOf(schema), ...typeOf(schema, options), ...metadataOf(schema, options) }
  return schema.optional ? { oneOf: [{ type: 'null' }, own], ...place } : { ...own, ...place }
}

function oneOf({ fields = [], optional }: Schema, options: ToJsonSchemaOptions): Members {
  const branches = fields.map((field) => toJsonSchema({ ...field.schema, optional: false }, options))
  return { oneOf: optional ? [{ type: 'null' }, ...branches] : branches }
}

function aboutOf({ name, doc }: Schema): Members {
  return { ...(name !== undefined && { title: name }), ...(doc !== undefined && { description: doc }) }
}

function typeOf(schema: Schema, options: ToJsonSchemaOptions): Members {
  switch (schema.type) {
    case 'boolean':
      return { type: 'boolean' }
    case 'string':
      return stringOf(schema)
    case 'bytes':
      return { type: schema.name === LOGICAL.decimal && options.decimals === 'NUMERIC' ? 'number' : 'string' }
    case 'float32':
    case 'float64':
      return { type: 'number' }
    case 'array':
      return { type: 'array', items: toJsonSchema(schema.items!, options) }
    case 'map':
      return mapOf(schema, options)
    case 'struct':
      return objectOf(schema, options)
    default:
      return { type: 'integer' }
  }
}

function stringOf({ parameters = {} }: Schema): Members {
  const words = Object.entries(parameters).flatMap(([key, word]) => (key.startsWith(`${ENUM}.`) ? [word] : []))
  return words.length === 0 ? { type: 'string' } : { enum: words }
}

/** JSON's keys are texts: other maps are lists of entries. */
function mapOf({ keys, items }: Schema, options: ToJsonSchemaOptions): Members {
  if (keys!.type === 'string' && !keys!.optional) {
    return { type: 'object', additionalProperties: toJsonSchema(items!, options) }
  }
  const entry = { [KEY]: toJsonSchema(keys!, options, 0), [VALUE]: toJsonSchema(items!, options, 1) }
  return { type: 'array', items: { type: 'object', properties: entry } }
}

function objectOf({ fields = [] }: Schema, options: ToJsonSchemaOptions): Members {
  const properties = fields.map(({ name, schema }, index) => [name, toJsonSchema(schema, options, index)] as const)
  const required = options.required ? fields.filter(({ schema }) => !schema.optional).map(({ name }) => name) : []
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
    ...(!options.additional && { additionalProperties: false }),
  }
}

function metadataOf(schema: Schema, options: ToJsonSchemaOptions): Members {
  const { type, version, parameters = {} } = schema
  const kept = Object.entries(parameters).filter(([key]) => !key.startsWith(ENUM))
  return {
    ...(schema.default !== undefined && schema.default !== null && { default: defaultOf(schema, options) }),
    ...(!['boolean', 'string', 'array', 'struct'].includes(type) && { [PROP.type]: type }),
    ...(version !== undefined && { [PROP.version]: version }),
    ...(kept.length > 0 && { [PROP.parameters]: Object.fromEntries(kept) }),
  }
}

function defaultOf(schema: Schema, { decimals }: ToJsonSchemaOptions): unknown {
  const text = jsonWriter(schema, { decimals, nullsToDefaults: false, entries: 'objects' })(schema.default)
  try {
    return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text)
  } catch {
    // Only scalars can be given as they are written.
    return JSON.parse(text) as unknown
  }
}
