import { ConfigError, DataError, field, type RecordHeader, z } from '../../sdk/index.ts'
import { sideTransforms } from './key-value-transforms.ts'
import {
  basicsOf,
  exactWordField,
  fieldOf,
  memberOf,
  membersOf,
  oncePerSchema,
  ownMember,
  replaceNullField,
  requireObject,
  requireStruct,
  structOf,
} from './struct-access.ts'

function names(key: string, doc: string) {
  return field.parsed(field.list({ doc, importance: 'HIGH' }), (list) => {
    if (list.length === 0) throw new Error(`Invalid value [] for configuration ${key}: Empty list`)
    return list
  })
}

/** Moves or copies fields to headers. */
export const headerFrom = sideTransforms({
  name: 'HeaderFrom',
  summary: 'Moves or copies fields of the key or value into headers.',
  config: z.object({
    fields: names('fields', 'Field names in the record whose values are to be copied or moved to headers.'),
    headers: names(
      'headers',
      'Header names, in the same order as the field names listed in the fields configuration property.',
    ),
    operation: exactWordField(['move', 'copy'], {
      doc:
        'Either <code>move</code> if the fields are to be moved to the headers (removed from the key/value), or ' +
        '<code>copy</code> if the fields are to be copied to the headers (retained in the key/value).',
      importance: 'HIGH',
    }),
    'replace.null.with.default': replaceNullField(),
  }),
  create({ fields, headers, operation, 'replace.null.with.default': withDefault }) {
    if (headers.length !== fields.length) {
      const message = "'fields' config must have the same number of elements as 'headers' config."
      throw new ConfigError([{ key: 'headers', message }])
    }
    const purpose = `header ${operation}`
    const isMoved = (name: string) => operation === 'move' && fields.includes(name)
    const left = oncePerSchema((schema) =>
      operation === 'copy'
        ? schema
        : structOf(basicsOf(schema), schema.fields?.filter(({ name }) => !isMoved(name)) ?? []),
    )
    return ({ schema, value }, record) => {
      const added = (make: (name: string) => Omit<RecordHeader, 'key'>) => [
        ...record.headers,
        ...headers.map((key, index): RecordHeader => ({ key, ...make(fields[index] ?? '') })),
      ]
      if (schema === null) {
        const members = requireObject(value, purpose)
        const kept = Object.entries(members).filter(([name]) => !isMoved(name))
        return {
          schema,
          value: Object.fromEntries(kept),
          headers: added((name) => ({ value: ownMember(members, name) ?? null, schema: null })),
        }
      }
      const struct = requireStruct(value, schema, purpose)
      const moved = left(schema)
      return {
        schema: moved,
        value: operation === 'copy' ? struct : membersOf(moved, struct, withDefault),
        headers: added((name) => {
          const one = fieldOf(schema, name)
          if (one === undefined) throw new DataError(`Field does not exist: ${name}`)
          return { value: memberOf(struct, one, withDefault), schema: one.schema }
        }),
      }
    }
  },
})
