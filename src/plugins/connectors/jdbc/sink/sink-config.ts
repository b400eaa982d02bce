import { field, z } from '../../../../sdk/index.ts'
import { type ConnectionKeyOptions, connectionKeys } from '../connection-keys.ts'
import type { SinkDatabase } from './sink-database.ts'

const writes = 'Writes'
const mapping = 'Data Mapping'
const ddl = 'DDL Support'
const retries = 'Retries'

/** The configuration of a JDBC sink. The options are what differs between connectors. */
export const sinkConfig = (options: ConnectionKeyOptions<SinkDatabase<unknown>>) =>
  z
    .object({
      ...connectionKeys(options),
      'insert.mode': field
        .oneOf(['insert', 'upsert', 'update', 'multi'], {
          doc:
            'How records are written: insert a row; insert a row or update the row with the same key (upsert); update the row with the same key. ' +
            "`multi`, a value of Aiven's connector, is the same as `insert`.",
          importance: 'HIGH',
          group: writes,
        })
        .default('insert'),
      'batch.size': field
        .int({ doc: 'Maximum number of records in a statement.', importance: 'MEDIUM', min: 1, group: writes })
        .default(3000),
      'delete.enabled': field
        .boolean({
          doc: 'Whether a tombstone deletes the row with its key. Requires `pk.mode=record_key`.',
          importance: 'MEDIUM',
          group: writes,
        })
        .default(false),
      'offsets.table': field
        .text({
          doc:
            'Table that stores the offsets of written records in the transaction of the records, for exactly-once delivery. It is created ' +
            'if it does not exist. Not a key of the JDBC connectors. Empty: at least once.',
          importance: 'MEDIUM',
          group: writes,
        })
        .default(''),
      'table.types': field
        .list({
          doc: 'Has no effect: every kind of table that accepts writes is used.',
          importance: 'LOW',
          group: writes,
        })
        .default([]),
      'table.name.format': field
        .text({
          doc: 'Name of the table for a topic, optionally with the schema. `${topic}` is the name of the topic.',
          importance: 'MEDIUM',
          group: mapping,
          nonEmpty: true,
        })
        .default('${topic}'),
      'table.name.normalize': field
        .boolean({
          doc: "Aiven's key: whether to replace characters of the table name other than letters, digits and `_` with `_`.",
          importance: 'MEDIUM',
          group: mapping,
        })
        .default(false),
      'topics.to.tables.mapping': field
        .parsed(
          field.list({
            doc: "Aiven's key: tables by topic as `TOPIC:TABLE,…`, instead of `table.name.format`. A topic without an entry fails the task.",
            importance: 'MEDIUM',
            group: mapping,
          }),
          parseTopicMapping,
        )
        .prefault(''),
      'pk.mode': field
        .oneOf(['none', 'kafka', 'record_key', 'record_value'], {
          doc: 'Origin of the primary key: none; topic, partition and offset; the key of the record; or its value.',
          importance: 'HIGH',
          group: mapping,
        })
        .default('none'),
      'pk.fields': field
        .list({
          doc:
            'Columns of the primary key. With `kafka`: names for topic, partition and offset, by default `__connect_topic`, ' +
            '`__connect_partition`, `__connect_offset`. With `record_key` and `record_value`: fields of the record, by default all; ' +
            'or the name of the column for a key that is a primitive.',
          importance: 'MEDIUM',
          group: mapping,
        })
        .default([]),
      'fields.whitelist': field
        .list({ doc: 'Fields of the value to write. Default: all.', importance: 'MEDIUM', group: mapping })
        .default([]),
      'string.output.value.column.name': field
        .text({ doc: 'Column for values that are strings.', importance: 'LOW', group: mapping })
        .default('record_value'),
      'replace.null.with.default': field
        .boolean({
          doc: 'Whether to replace null with the default value of the field.',
          importance: 'MEDIUM',
          group: mapping,
        })
        .default(true),
      'date.timezone': field
        .oneOf(['DB_TIMEZONE', 'UTC'], {
          doc: 'Time zone in which dates are written.',
          importance: 'MEDIUM',
          group: mapping,
        })
        .default('DB_TIMEZONE'),
      'timestamp.fields.list': field
        .list({ doc: 'Fields of type int64 or string that contain timestamps.', importance: 'LOW', group: mapping })
        .default([]),
      'timestamp.precision.mode': field
        .oneOf(['microseconds', 'nanoseconds'], { doc: 'Unit of these fields.', importance: 'LOW', group: mapping })
        .default('microseconds'),
      'date.calendar.system': field
        .oneOf(['LEGACY', 'PROLEPTIC_GREGORIAN'], {
          doc: 'Has no effect: dates are written in the proleptic Gregorian calendar, which the database uses.',
          importance: 'LOW',
          group: mapping,
        })
        .default('LEGACY'),
      'auto.create': field
        .boolean({ doc: 'Whether missing tables are created.', importance: 'MEDIUM', group: ddl })
        .default(false),
      'auto.evolve': field
        .boolean({ doc: 'Whether missing columns are added.', importance: 'MEDIUM', group: ddl })
        .default(false),
      'max.retries': field
        .int({
          doc: 'Number of consecutive retries of a batch before the task fails.',
          importance: 'MEDIUM',
          min: 0,
          group: retries,
        })
        .default(10),
      'retry.backoff.ms': field
        .int({ doc: 'Delay before a retry, in ms.', importance: 'MEDIUM', min: 0, group: retries })
        .default(3000),
      'trim.sensitive.log': field
        .boolean({
          doc: 'Has no effect: errors contain the message of the server.',
          importance: 'LOW',
        })
        .default(false),
      'mssql.use.merge.holdlock': field
        .boolean({ doc: 'Has no effect: it applies to SQL Server only.', importance: 'LOW' })
        .default(true),
    })
    .superRefine((config, context) => {
      for (const [key, message] of problemsOf(config)) field.addProblem(context, key, message)
    })

export type SinkConfig = z.infer<ReturnType<typeof sinkConfig>>

function parseTopicMapping(entries: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    entries.map((entry) => {
      const [, topic, table] = /^([^:]+):([^:]+)$/.exec(entry) ?? []
      if (topic !== undefined && table !== undefined) return [topic, table]
      throw new Error(`topics.to.tables.mapping: '${entry}' must be TOPIC:TABLE`)
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
    yield ['pk.mode', `insert.mode=${insertMode} requires a key: set pk.mode to kafka, record_key or record_value`]
  }
  if (config['delete.enabled'] && pkMode !== 'record_key') {
    yield ['delete.enabled', 'delete.enabled=true requires pk.mode=record_key: a tombstone has no value']
  }
  if (pkMode === 'kafka' && pkFields.length !== 0 && pkFields.length !== 3) {
    yield [
      'pk.fields',
      'with pk.mode=kafka, pk.fields must be empty or have three names, for topic, partition and offset',
    ]
  }
}
