import type { SourceContext, SourceRecord, Position as StoredOffset } from '../../../../../sdk/index.ts'
import { overridingStatements } from '../../../cdc/config/overriding-statements.ts'
import type { TableFilter } from '../../../cdc/config/table-filter.ts'
import { type EventTime, eventTime } from '../../../cdc/events/event-time.ts'
import type { BlockingSnapshot } from '../../../cdc/signals/incremental-snapshot.ts'
import { type MarkedRows, RowSequence, type SnapshotMarker } from '../../../cdc/snapshot/row-sequence.ts'
import { DatabaseError } from '../../../jdbc/database-error.ts'
import { plainTable, quotedTable } from '../../../jdbc/identifier.ts'
import type { RowTexts } from '../../../jdbc/row-texts.ts'
import type { MysqlSession } from '../../session.ts'
import { mysqlQuoted } from '../../sql-literal.ts'
import type { MysqlCdcConfig } from '../config/mysql-cdc-config.ts'
import { TableSchemas } from '../ddl/table-schemas.ts'
import type { MysqlEventWriter } from '../events/mysql-event-writer.ts'
import type { MysqlOrigin } from '../events/mysql-source-block.ts'
import type { SchemaHistory } from '../history/schema-history.ts'
import { type MysqlServerState, readPosition } from '../mysql-server-state.ts'
import { type BinlogPosition, printPosition } from '../position.ts'
import type { HistoryTable, TableChange, TableId } from '../table-model.ts'
import { selectStatement } from './select-statement.ts'
import { type ReadStructures, readStructures } from './table-structures.ts'

export type MysqlSnapshotOptions = {
  readonly context: Pick<SourceContext<MysqlCdcConfig>, 'config' | 'raw' | 'advance' | 'reportSnapshot' | 'log'>
  readonly partition: StoredOffset
  readonly openSession: () => Promise<MysqlSession>
  readonly state: MysqlServerState
  readonly filter: TableFilter
  readonly schemas: TableSchemas
  readonly history: Pick<SchemaHistory, 'store'>
  readonly writer: MysqlEventWriter
  /** Whether rows are read, or the structure of tables only. */
  readonly readsRows: boolean
  /** Where the history of the structure begins; undefined: at the position of the snapshot. */
  readonly historyPosition?: BinlogPosition
}

/**
 * Reads the structure of tables and their rows at one moment, of which the server says the position in its log. Yields the records, and
 * returns the position from which the stream continues.
 */
export async function* takeSnapshot(
  options: MysqlSnapshotOptions,
): AsyncGenerator<readonly SourceRecord[], BinlogPosition> {
  const { context, openSession, state, schemas, filter } = options
  const { config, raw, log } = context
  const statements = overridingStatements(config['snapshot.select.statement.overrides'], raw)
  await using session = await openSession()
  const mode = config['snapshot.locking.mode']
  // Without a lock, changes between the position of MySQL and its view are written twice, rather than not at all.
  const earlier = mode === 'none' && !state.isMariadb ? await readPosition(session, state) : undefined
  await begin(session, mode !== 'none', config['snapshot.lock.timeout.ms'])
  const position = earlier ?? (await readPosition(session, state))
  const storesAll = !config['schema.history.internal.store.only.captured.tables.ddl']
  const structures = await readStructures(session, schemas, {
    isRead: (id) => storesAll || filter.includes(id),
    isCaptured: (id) => filter.includes(id),
  })
  if (mode !== 'extended') await session.execute('release the lock', 'UNLOCK TABLES')
  const time = eventTime(BigInt(Date.now()) * 1000n)
  log.info(
    { tables: structures.tables.length, file: position.file, position: position.position },
    'read the structure of the tables',
  )
  yield await structureRecords(options, structures, position, time)
  const included = config['snapshot.include.collection.list']
  const tables = structures.tables
    .map(({ table }) => table)
    .filter((table) => filter.includes(table) && plainTable(table) !== config['signal.data.collection'])
    .filter((table) => included.length === 0 || included.some((pattern) => pattern.test(plainTable(table))))
  const sourceOffset = () => snapshotOffset(position, time)
  if (options.readsRows) yield* rowRecords(options, session, { tables, statements, position, time, sourceOffset })
  context.advance(options.partition, printPosition(position))
  yield []
  return position
}

export type RequestedRowsOptions = Pick<
  MysqlSnapshotOptions,
  'context' | 'partition' | 'openSession' | 'state' | 'writer'
>

/** Reads the rows of tables that a signal requests, all at one moment, which is after what the stream has delivered. */
export async function* readRequestedRows(
  options: RequestedRowsOptions,
  { tables: names, statements }: BlockingSnapshot,
  sourceOffset: () => StoredOffset,
): AsyncGenerator<readonly SourceRecord[]> {
  const { context, openSession, state } = options
  await using session = await openSession()
  await begin(session, true, context.config['snapshot.lock.timeout.ms'])
  const position = await readPosition(session, state)
  // The tables as they are at this moment: the stream may not have read the statements that altered them.
  const schemas = new TableSchemas({ hasLowerCaseNames: state.hasLowerCaseNames, serverCharset: state.charset })
  const isRequested = (id: TableId) => names.includes(plainTable(id))
  const structures = await readStructures(session, schemas, { isRead: isRequested, isCaptured: isRequested })
  await session.execute('release the lock', 'UNLOCK TABLES')
  const tables = structures.tables.map(({ table }) => table)
  const time = eventTime(BigInt(Date.now()) * 1000n)
  yield* rowRecords(options, session, { tables, statements, position, time, sourceOffset })
}

/** `ER_SPECIFIC_ACCESS_DENIED_ERROR` and other denials. */
const DENIED: ReadonlySet<number | undefined> = new Set([1044, 1045, 1142, 1227])

/** The lock is held while the transaction begins, so that the position of the log is that of its view. */
async function begin(session: MysqlSession, locks: boolean, lockTimeoutMs: number): Promise<void> {
  const operation = 'begin the snapshot'
  const timeoutS = Math.max(1, Math.ceil(lockTimeoutMs / 1000))
  await session.execute(operation, `SET SESSION lock_wait_timeout = ${timeoutS}`)
  await session.execute(operation, 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
  if (locks) {
    try {
      await session.execute('lock all tables', 'FLUSH TABLES WITH READ LOCK')
    } catch (error) {
      if (!(error instanceof DatabaseError) || !DENIED.has(error.errno)) throw error
      const remedy = 'grant RELOAD to database.user, or set snapshot.locking.mode=none if no table is altered meanwhile'
      throw new DatabaseError(`${error.message}; ${remedy}`, { isTransient: false, cause: error })
    }
  }
  await session.execute(operation, 'START TRANSACTION WITH CONSISTENT SNAPSHOT')
}

/** Stores the structure of all tables, and returns the records of those that are captured. */
async function structureRecords(
  { context, partition, filter, history, writer, state, historyPosition }: MysqlSnapshotOptions,
  structures: ReadStructures,
  position: BinlogPosition,
  time: EventTime,
): Promise<readonly SourceRecord[]> {
  const statements = structureStatements(structures, state)
  const offset = snapshotOffset(historyPosition ?? position, time)
  await history.store(statements.map((one) => ({ partition, offset, timestampMs: time.ms, ...one })))
  if (!context.config['include.schema.changes'] || historyPosition !== undefined) return []
  const eventOffset = { sourcePartition: partition, sourceOffset: snapshotOffset(position, time) }
  return statements
    .filter(({ id }) => (id.name === '' ? id.schema === '' || filter.includesSchema(id.schema) : filter.includes(id)))
    .map(({ id, ...statement }) =>
      writer.schemaChange({ origin: originOf(id, position, time, 'true'), ...statement }, eventOffset),
    )
}

type StructureStatement = {
  /** The table; its name is empty for a statement about a database. */
  readonly id: TableId
  readonly database: string
  readonly ddl: string
  readonly changes: readonly TableChange[]
}

/** The statements from which Debezium's history of a snapshot consists. */
function structureStatements(
  { tables, databases }: ReadStructures,
  { charset, collation }: MysqlServerState,
): readonly StructureStatement[] {
  const ofDatabase = (database: string, ddl: string) => ({
    id: { schema: database, name: '' },
    database,
    ddl,
    changes: [],
  })
  const drops = tables.map(({ table: { schema, name } }) => {
    const id = { schema, name }
    const ddl = `DROP TABLE IF EXISTS ${quotedTable(id, mysqlQuoted)}`
    return { id, database: schema, ddl, changes: [{ type: 'DROP' as const, id }] }
  })
  const byDatabase = Map.groupBy(tables, ({ table }) => table.schema)
  const creates = [...byDatabase].flatMap(([database, own]) => {
    const name = mysqlQuoted(database)
    const { charset: itsCharset = charset, collation: itsCollation = collation } = databases.get(database) ?? {}
    return [
      ofDatabase(database, `DROP DATABASE IF EXISTS ${name}`),
      ofDatabase(database, `CREATE DATABASE ${name} CHARSET ${itsCharset} COLLATE ${itsCollation}`),
      ofDatabase(database, `USE ${name}`),
      ...own.map(({ table, ddl }) => ({ id: table, database, ddl, changes: [{ type: 'CREATE' as const, table }] })),
    ]
  })
  const set = ofDatabase('', `SET character_set_server=${charset}, collation_server=${collation}`)
  return [set, ...drops, ...creates]
}

type Reading = {
  readonly tables: readonly HistoryTable[]
  /** The statements whose rows replace those of a table. */
  readonly statements: ReadonlyMap<string, string>
  readonly position: BinlogPosition
  readonly time: EventTime
  readonly sourceOffset: () => StoredOffset
}
type TableRows = { readonly table: HistoryTable; readonly rows: readonly RowTexts[] }

async function* rowRecords(
  options: RequestedRowsOptions,
  session: MysqlSession,
  reading: Reading,
): AsyncGenerator<readonly SourceRecord[]> {
  const { context } = options
  const { tables, statements } = reading
  const { config, log } = context
  const rowsMax = Math.min(config['snapshot.fetch.size'], config['max.batch.size'])
  const released: MarkedRows<TableRows>[] = []
  const sequence = new RowSequence<HistoryTable, TableRows>(tables[0], (rows) => released.push(rows))
  let count = 0
  const take = () => released.splice(0).map((marked) => toRecords(options, marked, reading))
  for (const [index, table] of tables.entries()) {
    log.info({ table: plainTable(table), number: index + 1, tables: tables.length }, 'reading the rows of a table')
    const statement = selectStatement(table, statements.get(plainTable(table)))
    const cursor = session.openRows(`read the table ${plainTable(table)}`, statement, rowsMax)
    for await (const { rows } of cursor) {
      count += rows.length
      sequence.add(table, { table, rows }, rows.length)
      yield* take()
      const percent = Math.min(99, Math.floor((100 * index) / tables.length))
      context.reportSnapshot({ rows: count, percent, remainingMs: undefined })
    }
    sequence.endTable(table)
  }
  sequence.end()
  // Its transaction would block statements that alter the tables.
  await session.close()
  yield* take()
  context.reportSnapshot({ rows: count, percent: 100, remainingMs: 0 })
  log.info({ tables: tables.length, rows: count }, 'the snapshot is complete')
}

function toRecords(
  { writer, partition }: RequestedRowsOptions,
  { batch: { table, rows }, first, last }: MarkedRows<TableRows>,
  { position, time, sourceOffset }: Reading,
): readonly SourceRecord[] {
  const offset = { sourcePartition: partition, sourceOffset: sourceOffset() }
  const originWith = (marker: SnapshotMarker) => originOf(table, position, time, marker)
  const middle = originWith('true')
  return rows.map((row, index) => {
    const origin = index === 0 ? originWith(first) : index === rows.length - 1 ? originWith(last) : middle
    return writer.snapshotRow(table, row, origin, offset)
  })
}

/** An offset within a snapshot: it begins again after a restart. */
function snapshotOffset(position: BinlogPosition, time: EventTime): StoredOffset {
  const printed = printPosition({ ...position, timestampS: Math.floor(time.ms / 1000) })
  return { ...printed, snapshot: 'INITIAL', snapshot_completed: false }
}

export function originOf(
  table: TableId,
  position: Pick<BinlogPosition, 'file' | 'position'>,
  time: EventTime,
  marker: SnapshotMarker | 'incremental',
): MysqlOrigin {
  return {
    schema: table.schema,
    table: table.name,
    time,
    serverId: 0,
    gtid: undefined,
    file: position.file,
    position: position.position,
    row: 0,
    threadId: undefined,
    query: undefined,
    marker,
    transactionId: '',
  }
}
