import { LOGICAL, type Schema, TIMESTAMP, z } from '../../../sdk/index.ts'
import { sideTransforms } from '../key-value-transforms.ts'
import {
  basicsOf,
  membersOf,
  nonEmptyListField,
  oncePerSchema,
  requireObject,
  requireStruct,
  structOf,
} from '../struct-access.ts'
import { COMMUNITY_PACKAGE } from './community-package.ts'

const PURPOSE = 'adding the current time'

/** TimestampNowField of kafka-connect-transform-common. */
export const timestampNowField = sideTransforms({
  name: 'TimestampNowField',
  original: `${COMMUNITY_PACKAGE}.TimestampNowField`,
  summary: 'Sets fields to the current time.',
  notes: 'A field that exists with another type gets the type Timestamp.',
  config: z.object({
    fields: nonEmptyListField('fields', { doc: 'Names of the fields.', importance: 'HIGH' }),
  }),
  create({ fields: names }) {
    const unique = new Set(names)
    const schemaOf = oncePerSchema((schema) => {
      const present = new Set((schema.fields ?? []).map(({ name }) => name))
      const kept = (schema.fields ?? []).filter((one) => !unique.has(one.name) || isTimestamp(one.schema))
      const keptNames = new Set(kept.map(({ name }) => name))
      const added = [...unique].filter((name) => !present.has(name) || !keptNames.has(name))
      const made = structOf(basicsOf(schema), [...kept, ...added.map((name) => ({ name, schema: TIMESTAMP }))])
      return schema.optional ? { ...made, optional: true } : made
    })
    return (side) => {
      const { schema, value } = side
      if (schema === null && (value === null || value === undefined)) return side
      const now = new Date()
      const added = Object.fromEntries([...unique].map((name) => [name, now]))
      if (schema === null) return { schema, value: { ...requireObject(value, PURPOSE), ...added } }
      const members = membersOf(schema, requireStruct(value, schema, PURPOSE), true)
      return { schema: schemaOf(schema), value: { ...members, ...added } }
    }
  },
})

function isTimestamp({ type, name }: Schema): boolean {
  return type === 'int64' && name === LOGICAL.timestamp
}
