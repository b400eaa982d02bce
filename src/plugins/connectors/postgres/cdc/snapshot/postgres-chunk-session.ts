import {
  type ChunkPlan,
  type ChunkRange,
  type ChunkSession,
  chunkOrder,
  lastKeyOf,
  type ReadChunk,
  UnreadableTable,
} from '../../../cdc/signals/chunk-session.ts'
import type { ChunkKey, IncrementalTable } from '../../../cdc/signals/incremental-state.ts'
import type { RawSignal } from '../../../cdc/signals/signal.ts'
import { readVisibleRows } from '../../../cdc/signals/visible-rows.ts'
import { plainTable, quoted, quotedTable } from '../../../jdbc/identifier.ts'
import type { Session } from '../../session.ts'
import type { Table } from '../changes/change.ts'
import { type CatalogTable, readTables } from '../changes/table-catalog.ts'
import { parseSnapshotBounds, type SnapshotBounds } from './snapshot-progress.ts'

export type PostgresChunkPlan = ChunkPlan<Table> & Pick<CatalogTable, 'kind'>

/** Ids of transactions whose changes the stream has delivered. */
type DeliveredIds = readonly number[]

type TableChoice = {
  readonly isCaptured: (table: { readonly schema: string; readonly name: string }) => boolean
  /** Whether changes of partitions are published as changes of their root. */
  readonly publishesRoot: boolean
}

/** Reads tables of PostgreSQL in chunks. */
export class PostgresChunkSession implements ChunkSession<Table, PostgresChunkPlan, DeliveredIds> {
  readonly #session: Session
  readonly #tables: TableChoice

  constructor(session: Session, tables: TableChoice) {
    this.#session = session
    this.#tables = tables
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#session.close()
  }

  async capturedTables(): Promise<readonly string[]> {
    const { isCaptured, publishesRoot } = this.#tables
    const catalog = await readTables(this.#session)
    return (
      catalog
        // The topic of a partition would get its rows, but no changes.
        .filter(({ table, partitionOf }) => isCaptured(table) && !(publishesRoot && partitionOf !== undefined))
        .map(({ table: { schema, name } }) => `${schema}.${name}`)
    )
  }

  /**
   * Rejects with a `DatabaseError` unless the text is one SELECT statement that the role may execute. Otherwise it could contain the
   * end of the COPY that will read it, and another target, such as a program of the server.
   */
  async checkSelect(table: string, statement: string): Promise<void> {
    const operation = `read the table ${table} by the statement of the signal`
    // The parameter lets the server accept one statement only.
    const sql = `SELECT * FROM (${statement}\n) AS selected LIMIT $1`
    await this.#inTransaction(operation, () => this.#session.query(operation, sql, ['0']))
  }

  async plan({ name, condition, surrogateKey }: IncrementalTable): Promise<PostgresChunkPlan> {
    const text = `SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname || '.' || c.relname = $1`
    const ids = await this.#session.query(`find the table ${name}`, text, [name])
    const numbers = ids.map(([id]) => Number(id))
    const [found] = numbers.length === 0 ? [] : await readTables(this.#session, numbers)
    if (found === undefined) throw new UnreadableTable('it does not exist')
    const { table, kind } = found
    const orderNames = chunkOrder(table, surrogateKey)
    // The order depends on the types.
    const typeIdOf = (wanted: string) => table.columns.find((column) => column.name === wanted)?.typeId
    return { table, kind, orderNames, keyColumns: orderNames.map((key) => `${key} ${typeIdOf(key)}`), condition }
  }

  async readMaximumKey(plan: PostgresChunkPlan): Promise<ChunkKey | undefined> {
    const operation = `read the highest key of ${plainTable(plan.table)}`
    return this.#inTransaction(operation, async () => {
      const [row] = await this.#session.query(operation, maximumKeySql(plan), ['1'])
      return row?.map(String)
    })
  }

  /** Reads rows in a snapshot that sees all transactions whose changes were delivered before the window opened. */
  async readChunk(plan: PostgresChunkPlan, range: ChunkRange, delivered: DeliveredIds): Promise<ReadChunk> {
    const operation = `read a chunk of ${plainTable(plan.table)}`
    return readVisibleRows({ operation, waitsFor: 'standby' }, async () => {
      const { bounds, ...read } = await this.#readOnce(plan, range)
      return missesAny(bounds, delivered) ? undefined : read
    })
  }

  insertSignal(table: string, { id, type, data }: RawSignal): Promise<unknown> {
    const text = `INSERT INTO ${quotedName(table)} VALUES ($1, $2, $3)`
    return this.#session.query(`write the window of a chunk to the signal table ${table}`, text, [id, type, data])
  }

  deleteSignal(table: string, id: string): Promise<unknown> {
    const text = `DELETE FROM ${quotedName(table)} WHERE id = $1`
    return this.#session.query(`delete the begin of a chunk from the signal table ${table}`, text, [id])
  }

  /**
   * Reads the next rows in the order of their keys, with the transactions that their snapshot sees. A transaction that commits becomes
   * visible after its commit is in the log, so the position is read after the rows: it is behind the commits of all rows.
   */
  async #readOnce(
    plan: PostgresChunkPlan,
    { after, maximum, rowsMax }: ChunkRange,
  ): Promise<ReadChunk & { readonly bounds: SnapshotBounds }> {
    const operation = `read the next rows of ${plainTable(plan.table)}`
    return this.#inTransaction(operation, async () => {
      const [[snapshot] = []] = await this.#session.query(operation, 'SELECT pg_current_snapshot()::text')
      const sql = chunkSql(plan, after !== undefined, rowsMax)
      const rows = await this.#session.query(operation, sql, [...(after ?? []), ...maximum])
      const [[lsn] = []] = await this.#session.query('read the position of the log', POSITION_SQL)
      const bounds = parseSnapshotBounds(snapshot!)
      return { rows, lastKey: lastKeyOf(plan, rows), closePosition: BigInt(lsn!), bounds }
    })
  }

  /**
   * The transaction is read-only, because a signal may contain a condition that calls functions. Queries with a condition have
   * parameters: without them, the server would execute several statements.
   */
  async #inTransaction<Result>(operation: string, read: () => Promise<Result>): Promise<Result> {
    await this.#session.query(operation, 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY')
    try {
      return await read()
    } finally {
      await this.#session.query(operation, 'ROLLBACK')
    }
  }
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

function maximumKeySql({ table, kind, orderNames, condition }: PostgresChunkPlan): string {
  const order = orderNames.map((name) => `${quoted(name)} DESC`).join(', ')
  const isNotNull = orderNames.map((name) => `${quoted(name)} IS NOT NULL`)
  const where = [...isNotNull, ...(condition === undefined ? [] : [`(${condition})`])].join(' AND ')
  return `SELECT ${list(orderNames)} FROM ${from(kind, table)} WHERE ${where} ORDER BY ${order} LIMIT $1`
}

function chunkSql(
  { table, kind, orderNames, condition }: PostgresChunkPlan,
  isContinued: boolean,
  rowsMax: number,
): string {
  const parameters = (first: number) => orderNames.map((_, index) => `$${first + index}`).join(', ')
  const conditions = [
    isContinued && `(${list(orderNames)}) > (${parameters(1)})`,
    `(${list(orderNames)}) <= (${parameters(isContinued ? orderNames.length + 1 : 1)})`,
    condition !== undefined && `(${condition})`,
  ].filter((part) => part !== false)
  const columns = list(table.columns.map(({ name }) => name))
  return `SELECT ${columns} FROM ${from(kind, table)} WHERE ${conditions.join(' AND ')} ORDER BY ${list(orderNames)} LIMIT ${rowsMax}`
}

/** The rows of a child of a table, other than a partition, are published under its own name. */
function from(kind: CatalogTable['kind'], table: Table): string {
  return `${kind === 'table' ? 'ONLY ' : ''}${quotedTable(table)}`
}

/** Quotes the name of a table that is given as `schema.table`. */
function quotedName(table: string): string {
  const [, schema = '', name = ''] = /^([^.]*)\.(.*)$/s.exec(table) ?? []
  return quotedTable({ schema, name })
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
