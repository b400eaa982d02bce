import { defineTransform, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import type { Members } from '../struct-access.ts'
import { requireStruct } from '../struct-access.ts'

const KEY = 'schema.change.event.exclude.list'
const TYPES = ['CREATE', 'ALTER', 'DROP', 'TRUNCATE', 'DATABASE'] as const
const SCHEMA_NAME = /\.SchemaChange(?:Value|Key)$/

export const schemaChangeEventFilter = defineTransform({
  class: 'SchemaChangeEventFilter',
  aliases: ['io.debezium.transforms.SchemaChangeEventFilter'],
  version: SHIPPED_VERSION,
  summary: "Drops events about changes of tables from Debezium's schema change topic, by their type.",
  config: z.object({
    [KEY]: field.parsed(
      field.list({
        doc: `Types of events to drop: ${TYPES.join(', ')}.`,
        importance: 'HIGH',
        recommended: TYPES,
      }),
      parseTypes,
    ),
  }),
  create({ [KEY]: excluded }) {
    return (record) => {
      const { value, valueSchema } = record
      if (value === null || value === undefined || !SCHEMA_NAME.test(valueSchema?.name ?? '')) return record
      if (valueSchema === null) return record
      const { tableChanges } = requireStruct(value, valueSchema, 'Read schema change event to filter') as {
        readonly tableChanges?: readonly Members[] | null
      }
      if (tableChanges === null || tableChanges === undefined) return null
      const type = tableChanges.length === 0 ? 'DATABASE' : String(tableChanges[0]?.['type'])
      return excluded.has(type) ? null : record
    }
  },
})

function parseTypes(names: readonly string[]): ReadonlySet<string> {
  const unknown = names.find((name) => !(TYPES as readonly string[]).includes(name))
  if (names.length > 0 && unknown === undefined) return new Set(names)
  const found = unknown === undefined ? 'no type' : `'${unknown}'`
  throw new Error(
    `Invalid value ${names.join(',')} for configuration ${KEY}: expected ${TYPES.join(', ')}, got ${found}`,
  )
}
