import { field, z } from '../../../../sdk/index.ts'
import { connectionKeys } from '../connection-keys.ts'

const writes = 'Writes'
const mapping = 'Data Mapping'
const ddl = 'DDL Support'
const retries = 'Retries'

export const sinkConfig = z
  .object({
    ...connectionKeys,
    'insert.mode': field
      .oneOf(['insert', 'upsert', 'update', 'multi'], {
        doc:
          'What a record does: inserts a row, inserts it or replaces the row with its key, updates that row. ' +
          '`multi` is `insert`: the word of Aiven’s connector for what always happens here.',
        importance: 'HIGH',
        group: writes,
      })
      .default('insert'),
    'batch.size': field
      .int({ doc: 'Most records in one statement.', importance: 'MEDIUM', min: 1, group: writes })
      .default(3000),
    'delete.enabled': field
      .boolean({
        doc: 'Whether a record without a value deletes the row of its key. Needs `pk.mode=record_key`.',
        importance: 'MEDIUM',
        group: writes,
      })
      .default(false),
    'offsets.table': field
      .text({
        doc:
          'Table for the offsets of what was written, in the same transaction: then nothing is written twice, whatever ' +
          'happens. It is made when it is not there. Not a key of the JDBC connector. Empty: at least once.',
        importance: 'MEDIUM',
        group: writes,
      })
      .default(''),
    'table.types': field
      .list({ doc: 'Means nothing here: what can be written to is written to.', importance: 'LOW', group: writes })
      .default([]),
    'table.name.format': field
      .text({
        doc: 'The table of a topic, with or without its schema; `${topic}` is the name of the topic.',
        importance: 'MEDIUM',
        group: mapping,
        nonEmpty: true,
      })
      .default('${topic}'),
    'table.name.normalize': field
      .boolean({
        doc: "Aiven's key: characters of that name other than letters, digits and `_` become `_`.",
        importance: 'MEDIUM',
        group: mapping,
      })
      .default(false),
    'topics.to.tables.mapping': field
      .parsed(
        field.list({
          doc: "Aiven's key: `TOPIC:TABLE,…`, instead of `table.name.format`. A topic that it does not name fails the task.",
          importance: 'MEDIUM',
          group: mapping,
        }),
        parseTopicMapping,
      )
      .prefault(''),
    'pk.mode': field
      .oneOf(['none', 'kafka', 'record_key', 'record_value'], {
        doc: 'Where the key of a row comes from: nowhere, topic and partition and offset, the key or the value of the record.',
        importance: 'HIGH',
        group: mapping,
      })
      .default('none'),
    'pk.fields': field
      .list({
        doc:
          'Columns of the key. Of `kafka`: names for topic, partition and offset instead of `__connect_topic`, ' +
          '`__connect_partition`, `__connect_offset`; of a record: some of its fields, empty: all; the name for a key that is ' +
          'a single value.',
        importance: 'MEDIUM',
        group: mapping,
      })
      .default([]),
    'fields.whitelist': field
      .list({ doc: 'Fields of the value to write. Empty: all.', importance: 'MEDIUM', group: mapping })
      .default([]),
    'string.output.value.column.name': field
      .text({ doc: 'Column for values that are texts.', importance: 'LOW', group: mapping })
      .default('record_value'),
    'replace.null.with.default': field
      .boolean({ doc: 'Whether a null is written as the default of its field.', importance: 'MEDIUM', group: mapping })
      .default(true),
    'date.timezone': field
      .oneOf(['DB_TIMEZONE', 'UTC'], {
        doc: 'Time zone of the calendar of dates.',
        importance: 'MEDIUM',
        group: mapping,
      })
      .default('DB_TIMEZONE'),
    'timestamp.fields.list': field
      .list({ doc: 'Fields of int64 or text that are timestamps.', importance: 'LOW', group: mapping })
      .default([]),
    'timestamp.precision.mode': field
      .oneOf(['microseconds', 'nanoseconds'], { doc: 'What those fields count.', importance: 'LOW', group: mapping })
      .default('microseconds'),
    'date.calendar.system': field
      .oneOf(['LEGACY', 'PROLEPTIC_GREGORIAN'], {
        doc: 'Means nothing here: dates are written by the Gregorian calendar, by which PostgreSQL counts.',
        importance: 'LOW',
        group: mapping,
      })
      .default('LEGACY'),
    'auto.create': field
      .boolean({ doc: 'Whether a table that is missing is made.', importance: 'MEDIUM', group: ddl })
      .default(false),
    'auto.evolve': field
      .boolean({ doc: 'Whether columns that are missing are added.', importance: 'MEDIUM', group: ddl })
      .default(false),
    'max.retries': field
      .int({
        doc: 'How often in a row a batch is tried again before the task fails.',
        importance: 'MEDIUM',
        min: 0,
        group: retries,
      })
      .default(10),
    'retry.backoff.ms': field
      .int({ doc: 'Pause before that, in ms.', importance: 'MEDIUM', min: 0, group: retries })
      .default(3000),
    'trim.sensitive.log': field
      .boolean({
        doc: 'Means nothing here: of a record that is refused, what the server says of it is told.',
        importance: 'LOW',
      })
      .default(false),
    'mssql.use.merge.holdlock': field
      .boolean({ doc: 'Means nothing here: this is not that server.', importance: 'LOW' })
      .default(true),
  })
  .superRefine((config, context) => {
    for (const [key, message] of problemsOf(config)) field.addProblem(context, key, message)
  })

export type SinkConfig = z.infer<typeof sinkConfig>

function parseTopicMapping(entries: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    entries.map((entry) => {
      const [, topic, table] = /^([^:]+):([^:]+)$/.exec(entry) ?? []
      if (topic !== undefined && table !== undefined) return [topic, table]
      throw new Error(`topics.to.tables.mapping: '${entry}' should be TOPIC:TABLE`)
    }),
  )
}

type Checked = Readonly<Record<'insert.mode' | 'pk.mode', string>> & {
  readonly 'pk.fields': readonly string[]
  readonly 'delete.enabled': boolean
}

function* problemsOf(config: Checked): Generator<readonly [key: string, message: string]> {
  const { 'insert.mode': insertMode, 'pk.mode': pkMode, 'pk.fields': pkFields } = config
  if ((insertMode === 'upsert' || insertMode === 'update') && pkMode === 'none') {
    yield ['pk.mode', `insert.mode=${insertMode} needs a key: set pk.mode to kafka, record_key or record_value`]
  }
  if (config['delete.enabled'] && pkMode !== 'record_key') {
    yield ['delete.enabled', 'delete.enabled=true needs pk.mode=record_key: what is deleted has no value']
  }
  if (pkMode === 'kafka' && pkFields.length !== 0 && pkFields.length !== 3) {
    yield ['pk.fields', 'pk.fields with pk.mode=kafka needs three names, for topic, partition and offset, or none']
  }
}
