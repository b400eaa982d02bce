import { ConfigError, type Field, type Schema } from '../../../sdk/index.ts'
import { basicsOf, fieldOf, type Members, memberOf } from '../struct-access.ts'

/** A field to copy from the envelope and its new name: `op`, `source.ts_ms`, `ts_ms:WHEN`. */
export type AddedField = {
  /** The envelope's struct to search first; undefined for the envelope itself. */
  readonly struct: string | undefined
  readonly name: string
  readonly as: string
}

/** A field that exists in a certain envelope schema, with an accessor for its value. */
export type FoundField = { readonly field: Field; readonly of: (envelope: Members) => unknown }

const OF_TRANSACTION = ['id', 'data_collection_order', 'total_order']
const OF_ENVELOPE = ['op', 'ts_ms', 'ts_us', 'ts_ns']

/** Throws a `ConfigError` if a name is not valid. */
export function parseAddedFields(key: string, prefix: string, names: readonly string[]): readonly AddedField[] {
  return names.map((written) => {
    const [path = '', alias, ...more] = written.split(':')
    if (more.length > 0) throw new ConfigError([{ key, message: `Unexpected field name: ${written}` }])
    const [first = '', second] = path.split('.')
    const [struct, name] = second === undefined ? [structOf(first), first] : [first, second]
    return { struct, name, as: prefix + (alias ?? (second === undefined ? name : `${struct}_${name}`)) }
  })
}

function structOf(name: string): string | undefined {
  if (OF_ENVELOPE.includes(name)) return undefined
  return OF_TRANSACTION.includes(name) ? 'transaction' : 'source'
}

/**
 * Returns the fields that exist in this envelope schema. A field that its struct does not have is searched in the
 * envelope.
 */
export function resolveAddedFields(fields: readonly AddedField[], envelope: Schema): readonly FoundField[] {
  return fields.flatMap(({ struct, name, as }): readonly FoundField[] => {
    const parent = struct === undefined ? undefined : fieldOf(envelope, struct)
    const within = parent?.schema.type === 'struct' ? fieldOf(parent.schema, name) : undefined
    const found = within ?? fieldOf(envelope, name)
    if (found === undefined) return []
    const of = (members: Members) => {
      if (parent === undefined) return memberOf(members, found, false)
      const inner = memberOf(members, parent, false) as Members | null
      return inner === null ? null : memberOf(within === undefined ? members : inner, found, false)
    }
    return [{ field: { name: as, schema: optionalCopy(found.schema) }, of }]
  })
}

function optionalCopy(schema: Schema): Schema {
  const { type, items, keys, fields } = schema
  return {
    ...basicsOf(schema),
    type,
    optional: true,
    ...(items && { items }),
    ...(keys && { keys }),
    ...(fields && { fields }),
  }
}
