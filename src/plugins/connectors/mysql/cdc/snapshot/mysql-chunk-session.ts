import type { TableFilter } from '../../../cdc/config/table-filter.ts'
import {
  type ChunkPlan,
  type ChunkRange,
  type ChunkSession,
  chunkOrder,
  type LogPosition,
  lastKeyOf,
  type ReadChunk,
  UnreadableTable,
} from '../../../cdc/signals/chunk-session.ts'
import type { ChunkKey, IncrementalTable } from '../../../cdc/signals/incremental-state.ts'
import type { RawSignal } from '../../../cdc/signals/signal.ts'
import { readVisibleRows } from '../../../cdc/signals/visible-rows.ts'
import { DatabaseError } from '../../../jdbc/database-error.ts'
import { plainTable, quotedTable } from '../../../jdbc/identifier.ts'
import type { MysqlSession } from '../../session.ts'
import { mysqlQuoted, textLiteral } from '../../sql-literal.ts'
import type { TableSchemas } from '../ddl/table-schemas.ts'
import { type MysqlServerState, readLogEnd, readViewPlace } from '../mysql-server-state.ts'
import { logPositionOf } from '../position.ts'
import { type HistoryTable, tableIdKey } from '../table-model.ts'
import { keyLiteral, orderExpression } from './key-order.ts'
import { selectedColumn } from './select-statement.ts'

/** A table of the schema history as the window of a chunk observes it. */
export type ObservedTable = HistoryTable & { readonly id: string }

export type MysqlChunkPlan = ChunkPlan<ObservedTable> & { readonly described: HistoryTable }

/** What the stream has delivered. */
export type DeliveredPosition = { readonly position: LogPosition; readonly gtids: string | undefined }

type ChunkSource = {
  readonly state: MysqlServerState
  readonly schemas: TableSchemas
  readonly filter: TableFilter
  /** The `server_id` of the server of the stream; undefined if it is not known yet. */
  readonly serverNumber: number | undefined
}

/** `ER_TABLE_DEF_CHANGED`: the table was altered after the transaction has begun. */
const ALTERED = 1412
/** `ER_BAD_FIELD_ERROR` and `ER_NO_SUCH_TABLE`. */
const MISSING: ReadonlySet<number | undefined> = new Set([1054, 1146])

type QuerySession = Pick<MysqlSession, 'query' | 'execute' | 'close' | 'isOpen'>

/** Reads tables of MySQL and MariaDB in chunks, with the structure that they have in the stream. */
export class MysqlChunkSession implements ChunkSession<ObservedTable, MysqlChunkPlan, DeliveredPosition> {
  readonly #session: QuerySession
  readonly #source: ChunkSource

  private constructor(session: QuerySession, source: ChunkSource) {
    this.#session = session
    this.#source = source
  }

  /** Rejects if the server is not that of the stream, with whose positions those of this session are compared. */
  static async open(session: QuerySession, source: ChunkSource): Promise<MysqlChunkSession> {
    try {
      const operation = 'begin to read chunks'
      const [[number] = []] = await session.query(operation, 'SELECT @@global.server_id')
      if (source.serverNumber !== undefined && Number(number) !== source.serverNumber) {
        const message = `could not ${operation}: the connection is to the server ${number}, but changes are read from the server ${source.serverNumber}`
        throw new DatabaseError(message, { isTransient: true })
      }
      await session.execute(operation, 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      return new MysqlChunkSession(session, source)
    } catch (error) {
      await session.close()
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#session.close()
  }

  async capturedTables(): Promise<readonly string[]> {
    const { schemas, filter } = this.#source
    return schemas.tables
      .filter((table) => filter.includes(table))
      .map(plainTable)
      .toSorted()
  }

  async checkSelect(table: string, statement: string): Promise<void> {
    const operation = `read the table ${table} by the statement of the signal`
    const sql = `SELECT * FROM (${statement}\n) AS overriding LIMIT 0`
    await this.#inTransaction(operation, () => this.#session.query(operation, sql))
  }

  async plan({ name, condition, surrogateKey }: IncrementalTable): Promise<MysqlChunkPlan> {
    const described = this.#source.schemas.tables.find((table) => plainTable(table) === name)
    if (described === undefined) throw new UnreadableTable('it does not exist')
    const orderNames = chunkOrder(described, surrogateKey)
    const columns = columnsOf(described, orderNames)
    const unordered = columns.find((column) => orderExpression(column) === undefined)
    if (unordered !== undefined) {
      throw new UnreadableTable(
        `rows cannot be ordered by its column ${unordered.name} of the type ${unordered.typeName}`,
      )
    }
    // The order depends on the types and on the collations.
    const keyColumns = columns.map((column) => `${column.name} ${column.typeName} ${column.charsetName ?? ''}`.trim())
    return { table: observedTable(described), described, orderNames, keyColumns, condition }
  }

  async readMaximumKey(plan: MysqlChunkPlan): Promise<ChunkKey | undefined> {
    const operation = `read the highest key of ${plainTable(plan.table)}`
    return this.#inTransaction(operation, async () => {
      const [row] = await this.#explained(plan, () => this.#session.query(operation, maximumKeySql(plan)))
      return row?.map(String)
    })
  }

  /** Reads rows in a view that sees all transactions whose changes were delivered before the window opened. */
  async readChunk(plan: MysqlChunkPlan, range: ChunkRange, delivered: DeliveredPosition): Promise<ReadChunk> {
    const operation = `read the next rows of ${plainTable(plan.table)}`
    return readVisibleRows({ operation, waitsFor: 'replica' }, () =>
      this.#explained(plan, () => this.#readOnce(operation, plan, range, delivered)),
    )
  }

  insertSignal(table: string, { id, type, data }: RawSignal): Promise<unknown> {
    const values = [id, type, data ?? ''].map(textLiteral).join(', ')
    const sql = `INSERT INTO ${quotedName(table)} VALUES (${values})`
    return this.#session.execute(`write the window of a chunk to the signal table ${table}`, sql)
  }

  async deleteSignal(table: string, id: string): Promise<unknown> {
    const operation = `delete the begin of a chunk from the signal table ${table}`
    const { schemas } = this.#source
    const [idColumn] = schemas.tables.find((one) => plainTable(one) === table)?.columns ?? []
    const sql = `DELETE FROM ${quotedName(table)} WHERE ${mysqlQuoted(idColumn?.name ?? 'id')} = ${textLiteral(id)}`
    return this.#session.execute(operation, sql)
  }

  /**
   * Undefined if the rows may lack what was delivered. A transaction is in the log before it becomes visible, so the position is read
   * after the rows: it is behind the transactions of all rows, and behind the statements that have altered the table.
   */
  async #readOnce(
    operation: string,
    plan: MysqlChunkPlan,
    range: ChunkRange,
    delivered: DeliveredPosition,
  ): Promise<ReadChunk | undefined> {
    const { state } = this.#source
    if (!state.isMariadb && !(await this.#hasCommitted(operation, delivered))) return undefined
    return this.#inTransaction(operation, async () => {
      // MariaDB knows which part of the log its view contains.
      const view = state.isMariadb ? await readViewPlace(this.#session) : undefined
      if (view !== undefined && logPositionOf(view) < delivered.position) return undefined
      const rows = await this.#session.query(operation, chunkSql(plan, range))
      const end = await readLogEnd(this.#session, state)
      return { rows, lastKey: lastKeyOf(plan, rows), closePosition: logPositionOf(end) }
    })
  }

  /** Without GTIDs, the begin of the chunk was committed to the signal table, after everything that was delivered. */
  async #hasCommitted(operation: string, { gtids }: DeliveredPosition): Promise<boolean> {
    if (!this.#source.state.hasGtids || gtids === undefined) return true
    const sql = `SELECT GTID_SUBSET(${textLiteral(gtids)}, @@global.gtid_executed)`
    const [[isSubset] = []] = await this.#session.query(operation, sql)
    return isSubset === '1'
  }

  /** The transaction is read-only, because a signal may contain a condition that calls functions. */
  async #inTransaction<Result>(operation: string, read: () => Promise<Result>): Promise<Result> {
    await this.#session.execute(operation, 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
    try {
      return await read()
    } finally {
      await this.#session.execute(operation, 'ROLLBACK')
    }
  }

  /** A table that was altered can be read when the stream has delivered the statement. */
  async #explained<Result>(plan: MysqlChunkPlan, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error
      const isAltered = error.errno === ALTERED || (MISSING.has(error.errno) && !(await this.#hasColumns(plan.table)))
      if (!isAltered) throw error
      const message = `${error.message}; the table was altered by a statement that the stream has not delivered yet`
      throw new DatabaseError(message, { isTransient: true, errno: error.errno, sqlState: error.sqlState })
    }
  }

  async #hasColumns({ schema, name, columns }: ObservedTable): Promise<boolean> {
    const condition = `table_schema = ${textLiteral(schema)} AND table_name = ${textLiteral(name)}`
    const sql = `SELECT column_name FROM information_schema.columns WHERE ${condition} ORDER BY ordinal_position`
    const rows = await this.#session.query(`read the columns of ${schema}.${name}`, sql)
    return rows.length === columns.length && rows.every(([column], index) => column === columns[index]!.name)
  }
}

const observed = new WeakMap<HistoryTable, ObservedTable>()

export function observedTable(table: HistoryTable): ObservedTable {
  const known = observed.get(table)
  if (known !== undefined) return known
  const created = { ...table, id: tableIdKey(table) }
  observed.set(table, created)
  return created
}

function columnsOf({ columns }: HistoryTable, names: readonly string[]) {
  return names.map((wanted) => columns.find(({ name }) => name === wanted)!)
}

function orderOf({ described, orderNames }: MysqlChunkPlan): readonly string[] {
  return columnsOf(described, orderNames).map((column) => orderExpression(column)!)
}

function maximumKeySql(plan: MysqlChunkPlan): string {
  const { described, orderNames, condition } = plan
  const columns = orderNames.map((name) => mysqlQuoted(name))
  const where = [...columns.map((column) => `${column} IS NOT NULL`), ...conditionOf(condition)].join(' AND ')
  const order = orderOf(plan).map((expression) => `${expression} DESC`)
  return `SELECT ${columns.join(', ')} FROM ${quotedTable(described, mysqlQuoted)} WHERE ${where} ORDER BY ${order.join(', ')} LIMIT 1`
}

function chunkSql(plan: MysqlChunkPlan, { after, maximum, rowsMax }: ChunkRange): string {
  const { described, orderNames, condition } = plan
  const order = orderOf(plan)
  const keyColumns = columnsOf(described, orderNames)
  const literalsOf = (key: ChunkKey) => keyColumns.map((column, index) => keyLiteral(column, key[index]!))
  const where = [
    ...(after === undefined ? [] : [compared(order, literalsOf(after), '>', '>')]),
    compared(order, literalsOf(maximum), '<', '<='),
    ...conditionOf(condition),
  ].join(' AND ')
  const columns = described.columns.map(selectedColumn).join(', ')
  return `SELECT ${columns} FROM ${quotedTable(described, mysqlQuoted)} WHERE ${where} ORDER BY ${order.join(', ')} LIMIT ${rowsMax}`
}

/** Compares rows column by column: the server uses no index for `(a, b) > (1, 2)`. `last`: the operator for the last column. */
function compared(columns: readonly string[], literals: readonly string[], operator: '<' | '>', last: string): string {
  const [column, ...columnsLeft] = columns
  const [literal, ...literalsLeft] = literals
  if (columnsLeft.length === 0) return `${column} ${last} ${literal}`
  const rest = compared(columnsLeft, literalsLeft, operator, last)
  return `(${column} ${operator}= ${literal} AND (${column} ${operator} ${literal} OR ${rest}))`
}

/** A comment at the end of a condition ends with the line. */
function conditionOf(condition: string | undefined): readonly string[] {
  return condition === undefined ? [] : [`(${condition}\n)`]
}

/** Quotes the name of a table that is given as `database.table`. */
function quotedName(table: string): string {
  const [, schema = '', name = ''] = /^([^.]*)\.(.*)$/s.exec(table) ?? []
  return quotedTable({ schema, name }, mysqlQuoted)
}
