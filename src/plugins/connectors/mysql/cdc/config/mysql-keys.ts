import { field } from '../../../../../sdk/index.ts'
import { parseNamePattern, parseNamePatterns } from '../../../cdc/config/name-patterns.ts'
import { retryKeys } from '../../../cdc/retriable-database-error.ts'
import { BINARY_MODES, DECIMAL_MODES } from '../../../cdc/values/value-modes.ts'
import { UNSIGNED_MODES } from '../values/mysql-value-settings.ts'

const tables = 'Tables'
const values = 'Values'
const snapshot = 'Snapshot'
const history = 'Schema history'
const stream = 'Changes'

/** Pairs of keys of which only one may be set. */
export const MYSQL_EXCLUSIVE_KEYS = [
  ['database.include.list', 'database.exclude.list'],
  ['table.include.list', 'table.exclude.list'],
  ['column.include.list', 'column.exclude.list'],
] as const

export const mysqlTableKeys = {
  'database.include.list': patterns(
    'database.include.list',
    'Databases to capture. Default: all except those of the system.',
  ),
  'database.exclude.list': patterns('database.exclude.list', 'Databases not to capture.'),
  'table.include.list': patterns('table.include.list', 'Tables to capture, as DATABASE.TABLE. Default: all.'),
  'table.exclude.list': patterns('table.exclude.list', 'Tables not to capture, as DATABASE.TABLE.'),
}

function patterns(key: string, doc: string) {
  const info = {
    doc: `${doc} Regular expressions that match the whole name, separated by commas; upper and lower case are the same.`,
    importance: 'HIGH',
    group: tables,
  } as const
  return field.parsed(field.text(info), (text) => parseNamePatterns(key, text)).prefault('')
}

const TIME_MODES = ['adaptive_time_microseconds', 'connect', 'isostring', 'microseconds', 'nanoseconds'] as const

/** How values of columns are represented, as with Debezium. */
export const mysqlValueKeys = {
  'decimal.handling.mode': field
    .oneOf(DECIMAL_MODES, { doc: '`DECIMAL`: precise (decimals), double or string.', group: values })
    .default('precise'),
  'time.precision.mode': field
    .oneOf(TIME_MODES, {
      doc:
        '`DATE`, `TIME` and `DATETIME`: adaptive_time_microseconds (milliseconds or microseconds, by the precision of the column; `TIME` ' +
        'always has microseconds), connect (Kafka Connect’s types, milliseconds), isostring, microseconds or nanoseconds.',
      group: values,
    })
    .default('adaptive_time_microseconds'),
  'bigint.unsigned.handling.mode': field
    .oneOf(UNSIGNED_MODES, {
      doc: '`BIGINT UNSIGNED`: long, which overflows above 2^63, or precise (decimals).',
      group: values,
    })
    .default('long'),
  'binary.handling.mode': field
    .oneOf(BINARY_MODES, {
      doc: '`BINARY`, `VARBINARY` and `BLOB`: bytes, or text in this encoding.',
      importance: 'LOW',
      group: values,
    })
    .default('bytes'),
  'enable.time.adjuster': field
    .boolean({
      doc: 'Whether years of one or two digits are those from 1970 to 2069.',
      importance: 'LOW',
      group: values,
    })
    .default(true),
  'skip.messages.without.change': field
    .boolean({
      doc: 'Whether updates that change no captured column are skipped. Requires binlog_row_image=FULL.',
      group: values,
    })
    .default(false),
  'unavailable.value.placeholder': field
    .text({
      doc: 'Stands for a value that the log does not have, because of `binlog_row_image=MINIMAL` or `NOBLOB`.',
      group: values,
      isVerbatim: true,
    })
    .default('__debezium_unavailable_value'),
  'unavailable.value.mode': field
    .oneOf(['placeholder', 'omit'], {
      doc: 'What an event has for a value that the log does not have: the placeholder, or no such field (`omit`).',
      group: values,
    })
    .default('placeholder'),
}

const SNAPSHOT_MODES = ['initial', 'always', 'initial_only', 'no_data', 'never', 'when_needed', 'recovery'] as const

export const mysqlSnapshotKeys = {
  'snapshot.mode': field
    .oneOf(SNAPSHOT_MODES, {
      doc:
        'When existing rows are read: `initial` once, before the first changes; `initial_only` once, without changes after it; `always` at ' +
        'every start; `no_data` (or `never`) not at all; `when_needed` also when the server has purged the stored position. `recovery` ' +
        'writes the schema history anew from the present tables, which must not have been altered since the stored position.',
      importance: 'HIGH',
      group: snapshot,
    })
    .default('initial'),
  'snapshot.locking.mode': field
    .oneOf(['minimal', 'extended', 'none'], {
      doc:
        'How long writes of the server are blocked by a global read lock: while the position and the tables are read (`minimal`), until all ' +
        'rows are read (`extended`), or not at all (`none`: no table may be altered meanwhile; with MySQL, changes may also be there twice).',
      importance: 'LOW',
      group: snapshot,
    })
    .default('minimal'),
  'snapshot.lock.timeout.ms': field
    .long({
      doc: 'How long to wait for the lock, in ms.',
      importance: 'LOW',
      min: 0,
      max: 2_147_483_647,
      group: snapshot,
    })
    .default(10_000),
  'snapshot.include.collection.list': field
    .parsed(
      field.list({
        doc: 'Tables whose existing rows are read, as DATABASE.TABLE. Default: all captured tables. Regular expressions that match the whole name.',
        importance: 'MEDIUM',
        group: snapshot,
      }),
      (entries) => entries.map((entry) => parseNamePattern('snapshot.include.collection.list', entry)),
    )
    .prefault(''),
  'snapshot.select.statement.overrides': field
    .list({
      doc:
        'Tables, as DATABASE.TABLE, whose existing rows are those of a SELECT statement with all columns of the table: that of the key ' +
        '`snapshot.select.statement.overrides.DATABASE.TABLE`.',
      importance: 'MEDIUM',
      group: snapshot,
    })
    .default([]),
  'snapshot.fetch.size': field
    .int({ doc: 'Maximum number of rows of a batch of existing rows.', importance: 'MEDIUM', min: 1, group: snapshot })
    .default(2_000),
  'snapshot.delay.ms': field
    .long({ doc: 'Delay before existing rows are read, in ms.', importance: 'LOW', min: 0, group: snapshot })
    .default(0),
}

export const historyKeys = {
  'schema.history.internal.kafka.topic': field.text({
    doc: 'Topic with the history of the structure of tables. It is created with one partition. Partition 0 is used.',
    importance: 'HIGH',
    nonEmpty: true,
    reaches: 'written topic',
    group: history,
  }),
  'schema.history.internal.kafka.bootstrap.servers': field
    .text({
      doc: "Servers of the Kafka cluster with that topic. It must be the cluster of the connector's consumers: that of the worker.",
      importance: 'HIGH',
      nonEmpty: true,
      group: history,
    })
    .optional(),
  'schema.history.internal.store.only.captured.tables.ddl': field
    .boolean({
      doc: 'Whether the history has captured tables only. Otherwise more tables may be captured later.',
      importance: 'LOW',
      group: history,
    })
    .default(false),
  'include.schema.changes': field
    .boolean({
      doc: 'Whether changes of tables are written to the topic `topic.prefix`.',
      importance: 'MEDIUM',
      group: history,
    })
    .default(true),
}

export const mysqlStreamKeys = {
  'include.query': field
    .boolean({
      doc: 'Whether `source.query` has the statement of a change. The server needs binlog_rows_query_log_events or binlog_annotate_row_events.',
      importance: 'MEDIUM',
      group: stream,
    })
    .default(false),
  'heartbeat.interval.ms': field
    .int({
      doc: 'Interval of records to the heartbeat topic, in ms. 0: none.',
      importance: 'MEDIUM',
      min: 0,
      group: stream,
    })
    .default(0),
  'heartbeat.action.query': field
    .text({ doc: 'SQL statement to execute with each heartbeat.', importance: 'LOW', group: stream })
    .default(''),
  'max.batch.size': field
    .int({ doc: 'Maximum number of existing rows of a batch.', importance: 'MEDIUM', min: 1, group: stream })
    .default(2048),
  ...retryKeys,
}
