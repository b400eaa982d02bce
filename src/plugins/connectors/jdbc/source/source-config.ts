import type { JavaPattern } from '../../../../java-compat/java-regex.ts'
import { javaRegex } from '../../../../java-compat/java-regex.ts'
import { field, z } from '../../../../sdk/index.ts'
import { type ConnectionKeyOptions, connectionKeys } from '../connection-keys.ts'
import { columnsMapping } from './columns-mapping.ts'
import { MODES } from './select-statement.ts'
import { NUMERIC_MAPPINGS, type SourceDatabase } from './source-database.ts'
import { TIMESTAMP_GRANULARITIES } from './timestamp-granularity.ts'

const tables = 'Tables'
const reading = 'Reading'
const mapping = 'Mapping'

const patterns = (doc: string) =>
  field
    .parsed(field.list({ doc, importance: 'MEDIUM', group: tables }), (list) =>
      list.map((text) => javaRegex(text, { whole: true })),
    )
    .prefault('')

const names = (doc: string) => field.list({ doc, importance: 'MEDIUM', group: tables }).default([])

export type SourceConfigOptions = ConnectionKeyOptions<SourceDatabase> & {
  /** The names that `table.types` accepts. */
  readonly tableTypes: readonly string[]
  readonly catalogDoc: string
}

/** The configuration of a JDBC source. The options are what differs between connectors. */
export const sourceConfig = (options: SourceConfigOptions) =>
  z
    .object({
      ...connectionKeys(options),
      mode: field.oneOf(MODES, {
        doc: 'How new rows are detected: by reading all rows each time (bulk), or by columns whose values increase with new or changed rows.',
        importance: 'HIGH',
        group: reading,
      }),
      'incrementing.column.name': field
        .text({
          doc: 'Strictly increasing column. Default: the first identity, serial or AUTO_INCREMENT column of the table.',
          importance: 'MEDIUM',
          group: reading,
        })
        .default(''),
      'timestamp.column.name': field
        .list({
          doc: 'Columns with the time of the last change of a row. Of several columns, the first that is not null is used.',
          importance: 'MEDIUM',
          group: reading,
        })
        .default([]),
      'incrementing.column.mapping': columnsMapping(
        'incrementing.column.mapping',
        'Incrementing column by table: `REGEX:COLUMN,…`. Each table must match exactly one entry.',
      ),
      'timestamp.columns.mapping': columnsMapping(
        'timestamp.columns.mapping',
        'Timestamp columns by table: `REGEX:[COLUMN|COLUMN],…`. Each table must match exactly one entry.',
      ),
      'timestamp.initial': field
        .long({
          doc: 'Initial timestamp, in ms since 1970: earlier rows are not read. -1: the time at which the connector starts.',
          importance: 'LOW',
          group: reading,
        })
        .optional(),
      'timestamp.initial.ms': field
        .long({
          doc: "Aiven's key for `timestamp.initial`, which it overrides. -1 is one millisecond before 1970.",
          importance: 'LOW',
          group: reading,
        })
        .optional(),
      'incrementing.initial': field
        .long({
          doc: "Aiven's key: initial value of the incrementing column. Only rows with a greater value are read.",
          importance: 'LOW',
          group: reading,
        })
        .optional(),
      'timestamp.delay.interval.ms': field
        .long({ doc: 'Minimum age of a row before it is read, in ms.', importance: 'HIGH', min: 0, group: reading })
        .default(0),
      'transactions.wait.ms': field
        .long({
          doc:
            'Maximum wait for each open transaction that may still add a row before the rows that are visible, in ms. ' +
            '0: do not wait, like the JDBC connectors.',
          importance: 'MEDIUM',
          min: 0,
          group: reading,
        })
        .default(10_000),
      'validate.non.null': field
        .boolean({
          doc: 'Whether to reject tables whose incrementing column, or all of whose timestamp columns, are nullable. Rows with null there are never read.',
          importance: 'LOW',
          group: reading,
        })
        .default(true),
      'poll.interval.ms': field
        .long({ doc: 'Interval between two queries of a table, in ms.', importance: 'HIGH', min: 0, group: reading })
        .default(5000),
      'batch.max.rows': field
        .int({
          doc: 'Maximum number of rows in a batch. Batches of large rows are smaller.',
          importance: 'LOW',
          min: 1,
          group: reading,
        })
        // Values of larger batches outlive a collection of the young generation, which then copies them.
        .default(250),
      query: field
        .text({
          doc: 'Query to read instead of tables. It may have a WHERE clause only with `mode=bulk` or in a subquery.',
          importance: 'MEDIUM',
          group: reading,
        })
        .default(''),
      'query.masked': field
        .password({
          doc: 'The same as `query`, as a password: its value is masked.',
          importance: 'MEDIUM',
          group: reading,
        })
        .optional(),
      'query.suffix': field
        .text({
          doc: 'SQL that is appended to every query, such as LIMIT; with `mode=timestamp` rather `FETCH FIRST 1000 ROWS WITH TIES`.',
          importance: 'LOW',
          group: reading,
        })
        .default(''),
      'query.retry.attempts': field
        .int({
          doc: 'Number of consecutive retries while the server is unavailable. -1: unlimited.',
          importance: 'LOW',
          min: -1,
          group: reading,
        })
        .default(-1),
      'transaction.isolation.mode': field
        .oneOf(['DEFAULT', 'READ_UNCOMMITTED', 'READ_COMMITTED', 'REPEATABLE_READ', 'SERIALIZABLE'], {
          doc: 'Isolation level of the transactions that read.',
          importance: 'LOW',
          group: reading,
        })
        .default('DEFAULT'),
      'table.whitelist': names('Tables to read, with or without their schema. Default: all.'),
      'table.blacklist': names('Tables to exclude.'),
      'table.include.list': patterns('Regular expressions that match `schema.table` of the tables to read.'),
      'table.exclude.list': patterns(
        'Regular expressions that match `schema.table` of tables to exclude from the include list.',
      ),
      'schema.pattern': field
        .text({ doc: 'Schemas of the tables to read, as a pattern of SQL LIKE.', importance: 'MEDIUM', group: tables })
        .default('%'),
      'table.types': field
        .parsed(
          field.list({
            doc: 'Types of tables to read.',
            importance: 'LOW',
            group: tables,
            recommended: options.tableTypes,
          }),
          (list) => list.map((text) => parseTableType(text, options.tableTypes)),
        )
        .prefault('TABLE'),
      'table.poll.interval.ms': field
        .long({
          doc: 'Interval at which new and dropped tables are detected, in ms. The tasks are then reconfigured.',
          importance: 'LOW',
          min: 1,
          group: tables,
        })
        .default(60_000),
      'topic.prefix': field.text({
        doc: 'Prefix of the topic, before the name of the table. With `query` it is the name of the topic.',
        importance: 'HIGH',
      }),
      'numeric.mapping': field
        .oneOf(NUMERIC_MAPPINGS, {
          doc: 'Mapping of `numeric` columns. none: decimal. precision_only: integer if the scale is 0 and the precision at most 18, otherwise decimal. best_fit: also double if the scale is greater than 0 and the precision at most 18. best_fit_eager_double: double whenever the scale is greater than 0.',
          importance: 'LOW',
          group: mapping,
        })
        .optional(),
      'numeric.precision.mapping': field
        .boolean({ doc: 'Deprecated name for `numeric.mapping=precision_only`.', importance: 'LOW', group: mapping })
        .default(false),
      'timestamp.granularity': field
        .oneOf(TIMESTAMP_GRANULARITIES, {
          doc: 'Mapping of timestamps. `connect_logical` truncates to milliseconds.',
          importance: 'LOW',
          group: mapping,
        })
        .default('connect_logical'),
      'table.names.qualify': field
        .boolean({
          doc: "Aiven's key, without effect: tables are always queried with their schema.",
          importance: 'LOW',
          group: tables,
        })
        .default(true),
      'catalog.pattern': field.text({ doc: options.catalogDoc, importance: 'LOW', group: tables }).optional(),
      'max.buffer.size': field
        .int({ doc: 'Has no effect: memory is bounded in any case.', importance: 'LOW', group: reading })
        .default(0),
      'poll.linger.ms': field
        .long({ doc: 'Has no effect: rows are delivered as soon as they are read.', importance: 'LOW', group: reading })
        .default(5000),
      'date.calendar.system': field
        .oneOf(['LEGACY', 'PROLEPTIC_GREGORIAN'], {
          doc: 'Has no effect: dates are in the proleptic Gregorian calendar, which the database uses.',
          importance: 'LOW',
          group: mapping,
        })
        .default('LEGACY'),
      'table.monitoring.startup.polling.limit.ms': field
        .long({ doc: 'Has no effect: tasks are created when the tables are known.', importance: 'LOW', group: tables })
        .default(10_000),
    })
    .superRefine((config, context) => {
      for (const [key, message] of problemsOf(config)) field.addProblem(context, key, message)
    })

export type SourceConfig = z.infer<ReturnType<typeof sourceConfig>>

/** Returns the configured query, or undefined if tables are read. */
export function userQuery(config: SourceConfig): string | undefined {
  const query = config['query.masked'] || config.query
  return query === '' ? undefined : query.replace(/;\s*$/, '')
}

function parseTableType(text: string, known: readonly string[]): string {
  const type = text.toUpperCase()
  if (known.includes(type)) return type
  throw new Error(`table.types: '${text}' must be one of ${known.join(', ')}`)
}

type Checked = Readonly<Record<'mode' | 'query' | 'incrementing.column.name', string>> &
  Readonly<Record<'timestamp.column.name' | 'table.whitelist' | 'table.blacklist' | 'table.types', readonly string[]>> &
  Readonly<Record<'table.include.list' | 'table.exclude.list', readonly JavaPattern[]>> &
  Readonly<Record<'timestamp.columns.mapping' | 'incrementing.column.mapping', readonly unknown[]>> & {
    readonly 'query.masked'?: string | undefined
    readonly 'connection.url': SourceDatabase
  }

/** Problems that involve several keys. */
function* problemsOf(config: Checked): Generator<readonly [key: string, message: string]> {
  const { mode, 'table.whitelist': white, 'table.blacklist': black } = config
  const { 'table.include.list': include, 'table.exclude.list': exclude } = config
  const hasQuery = config.query !== '' || (config['query.masked'] ?? '') !== ''
  const byTime = config['timestamp.column.name'].length + config['timestamp.columns.mapping'].length > 0
  if (mode.startsWith('timestamp') && !byTime) {
    yield [
      'timestamp.column.name',
      `mode=${mode} requires timestamp.column.name: the columns with the time of the last change of a row`,
    ]
  }
  if (mode.endsWith('incrementing') && hasQuery && config['incrementing.column.name'] === '') {
    yield ['incrementing.column.name', `mode=${mode} with a query requires incrementing.column.name`]
  }
  if (hasQuery && white.length + black.length + include.length + exclude.length > 0) {
    yield ['query', 'query and lists of tables cannot be combined: remove one of them']
  }
  if (white.length > 0 && black.length > 0) {
    yield ['table.blacklist', 'table.blacklist and table.whitelist cannot be combined: remove one of them']
  }
  if (include.length > 0 && white.length + black.length > 0) {
    yield ['table.include.list', 'table.include.list replaces table.whitelist and table.blacklist: remove these']
  }
  const types = config['connection.url'].tableTypes
  const unknown = config['table.types'].find((type) => !types.includes(type))
  if (unknown !== undefined) {
    yield [
      'table.types',
      `table.types: the database of connection.url has no '${unknown}': expected ${types.join(', ')}`,
    ]
  }
  if (exclude.length > 0 && include.length === 0) {
    yield ['table.exclude.list', 'table.exclude.list requires table.include.list']
  }
}
