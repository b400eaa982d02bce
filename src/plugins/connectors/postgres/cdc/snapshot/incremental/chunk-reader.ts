import { setTimeout as sleep } from 'node:timers/promises'
import type { ChunkKey, IncrementalTable } from '../../../../cdc/signals/incremental-state.ts'
import { DatabaseError } from '../../../../jdbc/database-error.ts'
import { quoted } from '../../../../jdbc/identifier.ts'
import type { RowTexts } from '../../../../jdbc/row-texts.ts'
import type { Session } from '../../../session.ts'
import type { Lsn } from '../../changes/change.ts'
import { type CatalogTable, readTables } from '../../changes/table-catalog.ts'
import { parseSnapshotBounds, type SnapshotBounds } from '../snapshot-progress.ts'

/** What is read of one table: which rows, and in which order. */
export type ChunkQuery = {
  readonly table: CatalogTable
  readonly orderNames: readonly string[]
  readonly condition: string | undefined
}

export type ReadChunk = {
  readonly rows: readonly RowTexts[]
  /** The key of the last row; undefined if there are no rows. */
  readonly lastKey: ChunkKey | undefined
  /** Transactions that end before this position may be in the rows, none that ends later. */
  readonly closeLsn: Lsn
  /** The transactions that the snapshot of the chunk sees. */
  readonly bounds: SnapshotBounds
}

/** A commit is usually visible within a millisecond after it is in the log. */
const VISIBILITY_ATTEMPTS = 20
const VISIBILITY_DELAY_MS = 10

/** The keys between which rows are read: after the first one, up to the second one. */
type ChunkRange = { readonly after: ChunkKey | undefined; readonly maximum: ChunkKey; readonly rowsMax: number }

/** A table that cannot be read in chunks. The message is for the log. */
class UnreadableTable extends Error {
  override readonly name = 'UnreadableTable'
}

/** Throws an `UnreadableTable` if no columns can order the chunks of the table. */
function toChunkQuery(table: CatalogTable, { condition, surrogateKey }: IncrementalTable): ChunkQuery {
  const { columns, keyNames } = table.table
  const isComplete = keyNames.every((key) => columns.some(({ name, isOptional }) => name === key && !isOptional))
  if (surrogateKey === undefined) {
    if (keyNames.length > 0 && isComplete) return { table, orderNames: keyNames, condition }
    throw new UnreadableTable(
      'it has no key without optional columns: add a primary key, or name a unique column as surrogate-key in the signal',
    )
  }
  if (!columns.some(({ name }) => name === surrogateKey)) {
    throw new UnreadableTable(`it has no column ${surrogateKey}, which the signal names as surrogate-key`)
  }
  // Several rows may have the same value of the column. Without the key, a chunk that ends among them would skip the others.
  const others = isComplete ? keyNames.filter((name) => name !== surrogateKey) : []
  return { table, orderNames: [surrogateKey, ...others], condition }
}

/** Describes a table as it is now. Throws an `UnreadableTable` if it cannot be read in chunks. */
export async function describeQuery(session: Session, { name, ...requested }: IncrementalTable): Promise<ChunkQuery> {
  const text = `SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname || '.' || c.relname = $1`
  const ids = await session.query(`find the table ${name}`, text, [name])
  const [table] =
    ids.length === 0
      ? []
      : await readTables(
          session,
          ids.map(([id]) => Number(id)),
        )
  if (table === undefined) throw new UnreadableTable('it does not exist')
  return toChunkQuery(table, { name, ...requested })
}

/** The columns by which chunks are ordered, each with the OID of its type, on which the order depends. */
export function keyColumnsOf({ table: { table }, orderNames }: ChunkQuery): readonly string[] {
  return orderNames.map((wanted) => `${wanted} ${table.columns.find(({ name }) => name === wanted)?.typeId}`)
}

/** Reads the highest key; undefined if no rows match. */
export async function readMaximumKey(session: Session, query: ChunkQuery): Promise<ChunkKey | undefined> {
  const operation = `read the highest key of ${nameOf(query)}`
  return inTransaction(session, operation, async () => {
    const [row] = await session.query(operation, maximumKeySql(query), ['1'])
    return row?.map(String)
  })
}

/**
 * Reads the next rows in the order of their keys. A transaction that commits becomes visible after its commit is in the log,
 * so the position is read after the rows: it is behind the commits of all rows.
 */
async function readChunk(session: Session, query: ChunkQuery, range: ChunkRange): Promise<ReadChunk> {
  const operation = `read the next rows of ${nameOf(query)}`
  return inTransaction(session, operation, async () => {
    const [[snapshot] = []] = await session.query(operation, 'SELECT pg_current_snapshot()::text')
    const sql = chunkSql(query, range.after !== undefined, range.rowsMax)
    const rows = await session.query(operation, sql, [...(range.after ?? []), ...range.maximum])
    const [[lsn] = []] = await session.query('read the position of the log', POSITION_SQL)
    const indexes = query.orderNames.map((name) =>
      query.table.table.columns.findIndex((column) => column.name === name),
    )
    const last = rows.at(-1)
    return {
      rows,
      lastKey: last && indexes.map((index) => String(last[index])),
      closeLsn: BigInt(lsn!),
      bounds: parseSnapshotBounds(snapshot!),
    }
  })
}

/**
 * The transaction is read-only, because a signal may contain a condition that calls functions. Queries with a condition have
 * parameters: without them, the server would execute several statements.
 */
async function inTransaction<Result>(
  session: Session,
  operation: string,
  read: () => Promise<Result>,
): Promise<Result> {
  await session.query(operation, 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY')
  try {
    return await read()
  } finally {
    await session.query(operation, 'ROLLBACK')
  }
}

/**
 * Throws a `DatabaseError` unless the text is one SELECT statement that the role may execute. Otherwise it could contain the end of
 * the COPY that will read it, and another target, such as a program of the server.
 */
export async function checkSelect(session: Session, table: string, statement: string): Promise<void> {
  const operation = `read the table ${table} by the statement of the signal`
  // The parameter lets the server accept one statement only.
  const sql = `SELECT * FROM (${statement}\n) AS selected LIMIT $1`
  await inTransaction(session, operation, () => session.query(operation, sql, ['0']))
}

/** Reads rows in a snapshot that sees all transactions whose changes were delivered before the window opened. */
export async function readVisibleChunk(
  session: Session,
  query: ChunkQuery,
  range: ChunkRange,
  delivered: readonly number[],
): Promise<ReadChunk> {
  for (let attempt = 0; attempt < VISIBILITY_ATTEMPTS; attempt += 1) {
    const read = await readChunk(session, query, range)
    if (!missesAny(read.bounds, delivered)) return read
    await sleep(VISIBILITY_DELAY_MS)
  }
  throw new DatabaseError(
    `could not read a chunk of ${nameOf(query)}: a transaction whose changes were delivered is not visible yet, because it waits for a standby`,
    { isTransient: true },
  )
}

/** Whether the table has the same columns and the same key. */
export function isSameDescription(a: ChunkQuery, b: ChunkQuery): boolean {
  const text = ({ table: { table } }: ChunkQuery) => JSON.stringify(table)
  return text(a) === text(b)
}

/**
 * The end of the log. Directly behind the header of a page of the log it is the begin of the page, which is what the server
 * reports when it is idle.
 */
const POSITION_SQL = `
  SELECT CASE WHEN lsn % page <= 40 THEN lsn - lsn % page ELSE lsn END
  FROM (SELECT pg_wal_lsn_diff(
      CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END, '0/0') AS lsn,
    current_setting('wal_block_size')::numeric AS page) AS position`

function maximumKeySql({ table, orderNames, condition }: ChunkQuery): string {
  const order = orderNames.map((name) => `${quoted(name)} DESC`).join(', ')
  const isNotNull = orderNames.map((name) => `${quoted(name)} IS NOT NULL`)
  const where = [...isNotNull, ...(condition === undefined ? [] : [`(${condition})`])].join(' AND ')
  return `SELECT ${list(orderNames)} FROM ${from(table)} WHERE ${where} ORDER BY ${order} LIMIT $1`
}

function chunkSql({ table, orderNames, condition }: ChunkQuery, isContinued: boolean, rowsMax: number): string {
  const parameters = (first: number) => orderNames.map((_, index) => `$${first + index}`).join(', ')
  const conditions = [
    isContinued && `(${list(orderNames)}) > (${parameters(1)})`,
    `(${list(orderNames)}) <= (${parameters(isContinued ? orderNames.length + 1 : 1)})`,
    condition !== undefined && `(${condition})`,
  ].filter((part) => part !== false)
  const columns = list(table.table.columns.map(({ name }) => name))
  return `SELECT ${columns} FROM ${from(table)} WHERE ${conditions.join(' AND ')} ORDER BY ${list(orderNames)} LIMIT ${rowsMax}`
}

/** The rows of a child of a table, other than a partition, are published under its own name. */
function from({ kind, table: { schema, name } }: CatalogTable): string {
  return `${kind === 'table' ? 'ONLY ' : ''}${quoted(schema)}.${quoted(name)}`
}

function nameOf({ table: { table } }: ChunkQuery): string {
  return `${table.schema}.${table.name}`
}

function list(names: readonly string[]): string {
  return names.map((name) => quoted(name)).join(', ')
}

/** Whether the snapshot does not see one of these transactions. */
function missesAny({ xmax, running }: SnapshotBounds, transactionIds: readonly number[]): boolean {
  const runningIds = new Set(running)
  // Transaction ids restart at 0 after 32 bits, so the sign of the 32-bit difference decides which id is later.
  return transactionIds.some((id) => ((id - xmax) | 0) >= 0 || runningIds.has(id))
}
