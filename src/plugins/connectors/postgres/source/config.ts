import type { JavaPattern } from '../../../../java-compat/regex.ts'
import { javaRegex } from '../../../../java-compat/regex.ts'
import { field, z } from '../../../../sdk/index.ts'
import { connectionKeys } from '../connection-keys.ts'
import { NUMERIC_MAPPINGS } from './columns.ts'
import { columnsMapping } from './columns-mapping.ts'
import { TIMESTAMP_GRANULARITIES } from './granularity.ts'
import { MODES } from './statement.ts'
import { TABLE_TYPES, type TableType } from './tables.ts'

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

export const sourceConfig = z
  .object({
    ...connectionKeys,
    mode: field.oneOf(MODES, {
      doc: 'How new rows are found: everything every time, or by columns that say what is new.',
      importance: 'HIGH',
      group: reading,
    }),
    'incrementing.column.name': field
      .text({
        doc: 'Column that grows with every new row. Empty: the first identity or serial column of the table.',
        importance: 'MEDIUM',
        group: reading,
      })
      .default(''),
    'timestamp.column.name': field
      .list({
        doc: 'Columns that say when a row was written or changed; of several, the first that is not null counts.',
        importance: 'MEDIUM',
        group: reading,
      })
      .default([]),
    'incrementing.column.mapping': columnsMapping(
      'incrementing.column.mapping',
      'Such a column for each table: `REGEX:COLUMN,…`. Each table has to match exactly one.',
    ),
    'timestamp.columns.mapping': columnsMapping(
      'timestamp.columns.mapping',
      'Such columns for each table: `REGEX:[COLUMN|COLUMN],…`. Each table has to match exactly one.',
    ),
    'timestamp.initial': field
      .long({
        doc: 'Rows from before this time are not read the first time, in ms since 1970; -1: from before the start.',
        importance: 'LOW',
        group: reading,
      })
      .optional(),
    'timestamp.initial.ms': field
      .long({
        doc: "Aiven's key for the same. Takes precedence when it is set; -1 is a millisecond before 1970.",
        importance: 'LOW',
        group: reading,
      })
      .optional(),
    'incrementing.initial': field
      .long({
        doc: "Aiven's key: rows whose incrementing column is not greater than this are not read the first time.",
        importance: 'LOW',
        group: reading,
      })
      .optional(),
    'timestamp.delay.interval.ms': field
      .long({ doc: 'How old a row has to be before it is read, in ms.', importance: 'HIGH', min: 0, group: reading })
      .default(0),
    'transactions.wait.ms': field
      .long({
        doc:
          'How long reading waits for each transaction that may still add a row before those that are there, in ms. ' +
          '0: not at all, as the JDBC connector.',
        importance: 'MEDIUM',
        min: 0,
        group: reading,
      })
      .default(10_000),
    'validate.non.null': field
      .boolean({
        doc: 'Whether tables are refused whose incrementing column, or all of whose timestamp columns, may be null: such rows are never read.',
        importance: 'LOW',
        group: reading,
      })
      .default(true),
    'poll.interval.ms': field
      .long({ doc: 'Pause between two readings of a table, in ms.', importance: 'HIGH', min: 0, group: reading })
      .default(5000),
    'batch.max.rows': field
      .int({
        doc: 'Most rows that are held at once; fewer when they are large.',
        importance: 'LOW',
        min: 1,
        group: reading,
      })
      .default(1000),
    query: field
      .text({
        doc: 'Read instead of tables. It may have no WHERE of its own, except with `mode=bulk` or in a subquery.',
        importance: 'MEDIUM',
        group: reading,
      })
      .default(''),
    'query.masked': field
      .password({ doc: 'The same, not shown again once it is written.', importance: 'MEDIUM', group: reading })
      .optional(),
    'query.suffix': field
      .text({ doc: 'SQL to put behind every query, such as LIMIT.', importance: 'LOW', group: reading })
      .default(''),
    'query.retry.attempts': field
      .int({
        doc: 'How often in a row reading is tried again when the server was away. -1: until it is back.',
        importance: 'LOW',
        min: -1,
        group: reading,
      })
      .default(-1),
    'transaction.isolation.mode': field
      .oneOf(['DEFAULT', 'READ_UNCOMMITTED', 'READ_COMMITTED', 'REPEATABLE_READ', 'SERIALIZABLE'], {
        doc: 'Of the transactions that read.',
        importance: 'LOW',
        group: reading,
      })
      .default('DEFAULT'),
    'table.whitelist': names('Tables to read, with or without their schema. Empty: all.'),
    'table.blacklist': names('Tables not to read.'),
    'table.include.list': patterns('Regular expressions on `schema.table`: tables to read.'),
    'table.exclude.list': patterns('Regular expressions on `schema.table`: tables of the include list not to read.'),
    'schema.pattern': field
      .text({ doc: 'Schemas whose tables count, as SQL’s LIKE has it.', importance: 'MEDIUM', group: tables })
      .default('%'),
    'table.types': field
      .parsed(
        field.list({
          doc: 'Kinds of what is read.',
          importance: 'LOW',
          group: tables,
          recommended: Object.keys(TABLE_TYPES),
        }),
        (list) => list.map(parseTableType),
      )
      .prefault('TABLE'),
    'table.poll.interval.ms': field
      .long({
        doc: 'How often new and dropped tables are looked for, in ms; tasks are then made anew.',
        importance: 'LOW',
        min: 1,
        group: tables,
      })
      .default(60_000),
    'topic.prefix': field.text({
      doc: 'Stands before the name of the table; with `query` it is the whole name of the topic.',
      importance: 'HIGH',
    }),
    'numeric.mapping': field
      .oneOf(NUMERIC_MAPPINGS, {
        doc: 'What becomes of `numeric`: always a decimal; an integer where it has no scale and fits; a double where it has a scale; a double even where it is larger.',
        importance: 'LOW',
        group: mapping,
      })
      .optional(),
    'numeric.precision.mapping': field
      .boolean({ doc: 'Earlier name for `numeric.mapping=precision_only`.', importance: 'LOW', group: mapping })
      .default(false),
    'timestamp.granularity': field
      .oneOf(TIMESTAMP_GRANULARITIES, {
        doc: 'What becomes of timestamps. The first cuts off what is below a millisecond.',
        importance: 'LOW',
        group: mapping,
      })
      .default('connect_logical'),
    'table.names.qualify': field
      .boolean({
        doc: "Aiven's key. Has no effect: tables are always queried with their schema.",
        importance: 'LOW',
        group: tables,
      })
      .default(true),
    'catalog.pattern': field
      .text({ doc: 'Means nothing here: a connection sees one database.', importance: 'LOW', group: tables })
      .optional(),
    'max.buffer.size': field
      .int({ doc: 'Means nothing here: rows wait on the server.', importance: 'LOW', group: reading })
      .default(0),
    'poll.linger.ms': field
      .long({ doc: 'Means nothing here: rows are given as soon as they are there.', importance: 'LOW', group: reading })
      .default(5000),
    'date.calendar.system': field
      .oneOf(['LEGACY', 'PROLEPTIC_GREGORIAN'], {
        doc: 'Means nothing here: dates are those of PostgreSQL, which counts by the Gregorian calendar.',
        importance: 'LOW',
        group: mapping,
      })
      .default('LEGACY'),
    'table.monitoring.startup.polling.limit.ms': field
      .long({ doc: 'Means nothing here: tasks are made when the tables are known.', importance: 'LOW', group: tables })
      .default(10_000),
  })
  .superRefine((config, context) => {
    for (const [key, message] of problemsOf(config)) field.addProblem(context, key, message)
  })

export type SourceConfig = z.infer<typeof sourceConfig>

/** The user's own query; undefined: tables are read. */
export function userQuery(config: SourceConfig): string | undefined {
  const query = config['query.masked'] || config.query
  return query === '' ? undefined : query.replace(/;\s*$/, '')
}

function parseTableType(text: string): TableType {
  const known = (Object.keys(TABLE_TYPES) as TableType[]).find((type) => type === text.toUpperCase())
  if (known !== undefined) return known
  throw new Error(`table.types: '${text}' is not one of ${Object.keys(TABLE_TYPES).join(', ')}`)
}

type Checked = Readonly<Record<'mode' | 'query' | 'incrementing.column.name', string>> &
  Readonly<Record<'timestamp.column.name' | 'table.whitelist' | 'table.blacklist', readonly string[]>> &
  Readonly<Record<'table.include.list' | 'table.exclude.list', readonly JavaPattern[]>> &
  Readonly<Record<'timestamp.columns.mapping' | 'incrementing.column.mapping', readonly unknown[]>> & {
    readonly 'query.masked'?: string | undefined
  }

/** What is wrong with keys that are right by themselves. */
function* problemsOf(config: Checked): Generator<readonly [key: string, message: string]> {
  const { mode, 'table.whitelist': white, 'table.blacklist': black } = config
  const { 'table.include.list': include, 'table.exclude.list': exclude } = config
  const hasQuery = config.query !== '' || (config['query.masked'] ?? '') !== ''
  const byTime = config['timestamp.column.name'].length + config['timestamp.columns.mapping'].length > 0
  if (mode.startsWith('timestamp') && !byTime) {
    yield ['timestamp.column.name', `mode=${mode} needs timestamp.column.name: the columns that say when a row changed`]
  }
  if (mode.endsWith('incrementing') && hasQuery && config['incrementing.column.name'] === '') {
    yield ['incrementing.column.name', `mode=${mode} with a query needs incrementing.column.name`]
  }
  if (hasQuery && white.length + black.length + include.length + exclude.length > 0) {
    yield ['query', 'query and lists of tables can not be combined: leave out one of them']
  }
  if (white.length > 0 && black.length > 0) {
    yield ['table.blacklist', 'table.blacklist and table.whitelist can not be combined: leave out one of them']
  }
  if (include.length > 0 && white.length + black.length > 0) {
    yield [
      'table.include.list',
      'table.include.list takes the place of table.whitelist and table.blacklist: leave them out',
    ]
  }
  if (exclude.length > 0 && include.length === 0) {
    yield ['table.exclude.list', 'table.exclude.list needs table.include.list']
  }
}
