import { isDeepStrictEqual } from 'node:util'
import { array, defineTransform, field, OPTIONAL_STRING, type RecordHeader, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { type DebeziumChange, rowOf, toDebeziumChange } from './envelope.ts'

const headerName = (which: string) =>
  field
    .text({ doc: `Name of the header with the names of the ${which} columns. Default: no header.`, importance: 'LOW' })
    .optional()

export const extractChangedRecordState = defineTransform({
  class: 'ExtractChangedRecordState',
  aliases: ['io.debezium.transforms.ExtractChangedRecordState'],
  version: SHIPPED_VERSION,
  summary: 'Adds headers with the names of the columns that an update changed, or did not change.',
  notes: 'Other change events get empty lists. Records that are not change events pass unchanged.',
  config: z.object({
    'header.changed.name': headerName('changed'),
    'header.unchanged.name': headerName('unchanged'),
  }),
  create({ 'header.changed.name': changed, 'header.unchanged.name': unchanged }) {
    const headers = [
      { name: changed, isChanged: true },
      { name: unchanged, isChanged: false },
    ].flatMap(({ name = '', isChanged }) =>
      name.trim() === '' ? [] : [{ key: name, isChanged, schema: { ...array(OPTIONAL_STRING), optional: true, name } }],
    )
    return (record) => {
      const change = toDebeziumChange(record)
      if (change === undefined || headers.length === 0) return record
      const columns = columnsOf(change)
      const added = headers.map(
        ({ key, isChanged, schema }): RecordHeader => ({
          key,
          schema,
          value: columns.filter((one) => one.isChanged === isChanged).map(({ name }) => name),
        }),
      )
      return { ...record, headers: [...record.headers, ...added] }
    }
  },
})

type Column = { readonly name: string; readonly isChanged: boolean }

/** None if the event has only one of the two states. */
function columnsOf(change: DebeziumChange): readonly Column[] {
  const [before, after] = [rowOf(change, 'before'), rowOf(change, 'after')]
  const [old, current] = [before.value, after.value]
  if (old === null || current === null) return []
  return (after.schema.fields ?? []).map(({ name }) => ({
    name,
    isChanged: !isDeepStrictEqual(old[name] ?? null, current[name] ?? null),
  }))
}
