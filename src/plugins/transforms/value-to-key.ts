import { DataError, defineTransform, z } from '../../sdk/index.ts'
import { names } from './key-value-transforms.ts'
import {
  fieldOf,
  membersOf,
  nonEmptyListField,
  oncePerSchema,
  ownMember,
  replaceNullField,
  requireObject,
  requireStruct,
  structOf,
} from './struct-access.ts'

const PURPOSE = 'copying fields from value to key'

export const valueToKey = defineTransform({
  ...names('ValueToKey'),
  summary: 'Replaces the key with a struct or object of fields of the value.',
  config: z.object({
    fields: nonEmptyListField('fields', {
      doc: 'Field names on the record value to extract as the record key.',
      importance: 'HIGH',
    }),
    'replace.null.with.default': replaceNullField(),
  }),
  create({ fields, 'replace.null.with.default': withDefault }) {
    const keySchemaOf = oncePerSchema((schema) =>
      structOf(
        {},
        [...new Set(fields)].map((name) => {
          const one = fieldOf(schema, name)
          if (one === undefined) throw new DataError(`Field does not exist: ${name}`)
          return one
        }),
      ),
    )
    return (record) => {
      const { value, valueSchema } = record
      if (valueSchema === null) {
        const members = requireObject(value, PURPOSE)
        const key = Object.fromEntries(fields.map((name) => [name, ownMember(members, name) ?? null]))
        return { ...record, keySchema: null, key }
      }
      const struct = requireStruct(value, valueSchema, PURPOSE)
      const keySchema = keySchemaOf(valueSchema)
      return { ...record, keySchema, key: membersOf(keySchema, struct, withDefault) }
    }
  },
})
