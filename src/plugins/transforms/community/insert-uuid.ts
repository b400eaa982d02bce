import { randomUUID } from 'node:crypto'
import { field, STRING, z } from '../../../sdk/index.ts'
import { sideTransforms } from '../key-value-transforms.ts'
import { basicsOf, membersOf, oncePerSchema, requireObject, requireStruct, structOf } from '../struct-access.ts'

const PURPOSE = 'adding UUID to record'

/** The transform of kafka-connect-insert-uuid. */
export const insertUuid = sideTransforms({
  name: 'InsertUuid',
  original: 'com.github.cjmatta.kafka.connect.smt.InsertUuid',
  summary: 'Adds a field with a random UUID.',
  notes: 'A record that is read or written again, for example after a failure, gets another UUID.',
  config: z.object({
    'uuid.field.name': field.text({ doc: 'Name of the field.', importance: 'HIGH' }).default('uuid'),
  }),
  create({ 'uuid.field.name': name }) {
    const extended = oncePerSchema((schema) =>
      structOf(basicsOf(schema), [...(schema.fields ?? []), { name, schema: STRING }]),
    )
    return ({ schema, value }) => {
      if (schema === null) return { schema, value: { ...requireObject(value, PURPOSE), [name]: randomUUID() } }
      const members = membersOf(schema, requireStruct(value, schema, PURPOSE), true)
      return { schema: extended(schema), value: { ...members, [name]: randomUUID() } }
    }
  },
})
