import avsc from 'avsc'
import { type AvroName, type AvroNamed, type AvroSchema, branchName, isPrimitive } from './avro-schema.ts'
import { avscName, bigintLong, ExactLong, exactType, SUFFIX, WRAPPED_UNIONS } from './avsc-types.ts'
import { hasDistinctShapes, type UnionForm } from './union-form.ts'

export type AvscEncoder = (value: unknown) => Buffer

/** Creates an encoder. With `doubles` it is fast, and throws an `Error` for longs from 2^52. */
export function avscEncoder(schema: AvroSchema, unions: UnionForm, longs: 'doubles' | 'bigints'): AvscEncoder {
  const type = avsc.Type.forSchema(
    convert(schema, { seen: new Set(), unions }) as avsc.Schema,
    {
      // An object without a prototype: otherwise avsc would find a type named `constructor` on `Object.prototype`.
      registry: Object.assign(Object.create(null), { long: longs === 'doubles' ? new ExactLong() : bigintLong() }),
      typeHook: exactType,
    } as avsc.ForSchemaOptions,
  )
  return (value) => type.toBuffer(value)
}

type Context = { readonly seen: Set<string>; readonly unions: UnionForm }

/** Converts a schema for avsc, with the parts that affect the binary encoding: no logical types and no documentation. */
function convert(schema: AvroSchema, context: Context): unknown {
  switch (schema.type) {
    case 'union': {
      const branches = schema.branches.map((branch) => convert(branch, context))
      if (context.unions === 'wrapped' || !hasDistinctShapes(schema))
        WRAPPED_UNIONS.set(branches, schema.branches.map(branchName))
      return branches
    }
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
  const own = avscTypeName(name)
  if (context.seen.has(own)) return own
  context.seen.add(own)
  const head = { name: own }
  switch (schema.type) {
    case 'record': {
      const fields = schema.fields.map((field) => ({
        name: avscName(field.name),
        type: convert(field.schema, context),
      }))
      return { type: 'record', ...head, fields }
    }
    case 'enum':
      return { type: 'enum', ...head, symbols: schema.symbols.map(avscName) }
    case 'fixed':
      return { type: 'fixed', ...head, size: schema.size }
  }
}

/**
 * The name that avsc gets for a type. avsc rejects the name of a primitive type, also in a namespace. Values contain type names
 * only as union branches, and those are in `WRAPPED_UNIONS`.
 */
function avscTypeName({ full, simple }: AvroName): string {
  const name = full.split('.').map(avscName).join('.')
  return isPrimitive(simple) ? `${name}${SUFFIX}` : name
}
