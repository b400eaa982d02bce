import { DataError, field, z } from '../../../sdk/index.ts'
import { sideTransforms } from '../key-value-transforms.ts'
import { fieldOf, type Members, memberOf, membersOf, oncePerSchema, requireStruct, structOf } from '../struct-access.ts'
import { COMMUNITY_PACKAGE } from './community-package.ts'

const PURPOSE = 'nested field extraction'
const name = (doc: string) => field.text({ doc, importance: 'HIGH' })

/** ExtractNestedField of kafka-connect-transform-common. */
export const extractNestedField = sideTransforms({
  name: 'ExtractNestedField',
  original: `${COMMUNITY_PACKAGE}.ExtractNestedField`,
  summary: 'Copies a field of a nested struct to the struct that contains it.',
  notes: 'The key or value must be a struct. A nested struct that is null is an error of the record.',
  config: z.object({
    'input.outer.field.name': name('Name of the field with the nested struct.'),
    'input.inner.field.name': name('Name of the field in the nested struct.'),
    'output.field.name': name('Name of the new field.'),
  }),
  create({ 'input.outer.field.name': outer, 'input.inner.field.name': inner, 'output.field.name': output }) {
    const found = oncePerSchema((schema) => {
      const from = fieldOf(schema, outer)
      const nested = from?.schema.type === 'struct' ? fieldOf(from.schema, inner) : undefined
      if (from === undefined || nested === undefined) throw new DataError(`Field does not exist: ${outer}.${inner}`)
      const basics = {
        ...(schema.name !== undefined && { name: schema.name }),
        ...(schema.optional && { optional: true }),
      }
      const extended = structOf(basics, [...(schema.fields ?? []), { name: output, schema: nested.schema }])
      return { from, nested, extended }
    })
    return (side) => {
      const { schema, value } = side
      if (schema === null && (value === null || value === undefined)) return side
      if (schema === null) throw new DataError('MAP is not a supported type.')
      const struct = requireStruct(value, schema, PURPOSE)
      const { from, nested, extended } = found(schema)
      const within = memberOf(struct, from) as Members | null
      if (within === null) throw new DataError(`the field ${outer} is null, so ${outer}.${inner} cannot be extracted`)
      return { schema: extended, value: { ...membersOf(schema, struct, true), [output]: memberOf(within, nested) } }
    }
  },
})
