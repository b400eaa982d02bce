import { DataError, defineTransform, z } from '../../sdk/index.ts'
import { fieldAt, fieldPath, fieldSyntaxVersion, memberAt, valueAt } from './field-path.ts'
import { names } from './key-value-transforms.ts'
import {
  nonEmptyListField,
  oncePerSchema,
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
    // Since Kafka 4.4.
    'field.syntax.version': fieldSyntaxVersion(),
  }),
  create({ fields: written, 'replace.null.with.default': withDefault, 'field.syntax.version': version }) {
    const fields = [...new Set(written)].map((name) => ({ name, path: fieldPath(name, version) }))
    const keySchemaOf = oncePerSchema((schema) =>
      structOf(
        {},
        fields.map(({ name, path }) => {
          const found = fieldAt(schema, path)
          if (found === undefined) throw new DataError(`Field does not exist: ${name}`)
          return { ...found, name }
        }),
      ),
    )
    return (record) => {
      const { value, valueSchema } = record
      if (valueSchema === null) {
        const members = requireObject(value, PURPOSE)
        const key = Object.fromEntries(fields.map(({ name, path }) => [name, memberAt(members, path)]))
        return { ...record, keySchema: null, key }
      }
      const struct = requireStruct(value, valueSchema, PURPOSE)
      const key = Object.fromEntries(
        fields.map(({ name, path }) => [name, valueAt(valueSchema, struct, path, withDefault)]),
      )
      return { ...record, keySchema: keySchemaOf(valueSchema), key }
    }
  },
})
