import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Database } from '../database.ts'
import { randomOf } from '../hostile-requests.ts'

const TABLES = ['plain', 'complete', 'large'] as const
const CLIENTS = 8
const TRANSACTION_ROWS_MAX = 10_000
/** Rows of a client have the ids from `client * IDS_OF_CLIENT`. */
const IDS_OF_CLIENT = 100_000_000
/** Added to an id by a change of the primary key. */
const MOVED = 50_000_000

/** The tables, and the one that counts transactions. `large` is the last one, so that a snapshot can be stopped before it. */
export const ALL_TABLES = ['plain', 'complete', 'clients', 'large'] as const
const COLUMNS =
  '(id integer PRIMARY KEY, version integer NOT NULL, word text, amount numeric(12, 2), at timestamptz, body text)'

/**
 * Tables with rows of eight clients, and a row for each client in `clients`: the number of its transactions, and of the changes in
 * them, that of this row included. A client updates its row in each transaction, so the events say how many belong to each.
 */
export async function createTables(database: Database): Promise<void> {
  for (const table of TABLES) await database.run(`CREATE TABLE ${table} ${COLUMNS}`)
  await database.run(`ALTER TABLE complete REPLICA IDENTITY FULL;
    ALTER TABLE large REPLICA IDENTITY FULL; ALTER TABLE large ALTER COLUMN body SET STORAGE EXTERNAL;
    CREATE TABLE clients (id integer PRIMARY KEY, transactions integer NOT NULL, changes integer NOT NULL, next integer NOT NULL);
    ALTER TABLE clients REPLICA IDENTITY FULL`)
}

/** Rows for the snapshot. */
export async function fillTables(database: Database, rows: number): Promise<void> {
  const each = Math.ceil(rows / TABLES.length / CLIENTS)
  for (const table of TABLES) {
    await database.run(`INSERT INTO ${table} SELECT ${values(table)}
      FROM generate_series(0, ${CLIENTS - 1}) c, LATERAL (SELECT c * ${IDS_OF_CLIENT} + n AS id FROM generate_series(1, ${each}) n) ids`)
  }
  await database.run(`INSERT INTO clients SELECT c, 0, 0, ${each + 1} FROM generate_series(0, ${CLIENTS - 1}) c`)
}

/** Some rows of `large` are stored out of line. */
function values(table: string): string {
  const body = table === 'large' ? "repeat('body', CASE WHEN id % 50 = 0 THEN 1000 ELSE 1 END)" : "'body'"
  return `id, 1, 'row ' || id, id * 0.01, '2026-11-22'::timestamptz + id * interval '1 ms', ${body}`
}

export type Pace = { readonly seed: number; readonly changes: number; canWrite(written: number): boolean }

/** Eight clients that write transactions of 1 to 10,000 rows at the same time, also while the server restarts. */
export class ConcurrentWriters {
  /** Changes of committed transactions, as far as the clients know. */
  written = 0
  readonly #database: Database
  readonly #pace: Pace
  readonly #done: Promise<unknown>

  constructor(database: Database, pace: Pace) {
    this.#database = database
    this.#pace = pace
    this.#done = Promise.all(Array.from({ length: CLIENTS }, (_, client) => this.#write(client)))
    this.#done.catch(() => undefined)
  }

  /** Resolves when all changes are written. */
  async finished(): Promise<void> {
    await this.#done
  }

  async #write(client: number): Promise<void> {
    const random = randomOf(this.#pace.seed + client)
    let connection: pg.Client | undefined
    while (this.written < this.#pace.changes) {
      if (!this.#pace.canWrite(this.written)) {
        await sleep(20)
        continue
      }
      try {
        connection ??= await this.#database.client()
        const changes = await writeTransaction(connection, client, random)
        this.written += changes
      } catch (error) {
        if (isMistake(error)) throw error
        await connection?.end().catch(() => undefined)
        connection = undefined
        await sleep(100)
      }
    }
    await connection?.end()
  }
}

/** Errors of a connection, and of a server that is starting or stopping, pass. */
function isMistake(error: unknown): boolean {
  const { code } = error as { readonly code?: string }
  return code !== undefined && /^(?:42|23|22)/.test(code)
}

async function writeTransaction(connection: pg.Client, client: number, random: () => number): Promise<number> {
  const table = TABLES[Math.floor(random() * TABLES.length)]!
  const rows = Math.ceil(TRANSACTION_ROWS_MAX ** (random() ** 2))
  const first = client * IDS_OF_CLIENT
  const oneOf = (count: number) => Math.floor(random() * count)
  await connection.query('BEGIN')
  // What the server has: after a lost connection nobody else knows whether the transaction was committed.
  const { rows: states } = await connection.query(`SELECT next FROM clients WHERE id = ${client}`)
  const next = Number(states[0].next)
  const chosen = `SELECT id FROM ${table} WHERE id BETWEEN ${first + oneOf(next)} AND ${first + next} ORDER BY id LIMIT`
  const [inserted, updated, moved, deleted] = [
    Math.ceil(rows * random()),
    rows,
    oneOf(3),
    Math.floor(rows * random() * 0.3),
  ]
  const statements = [
    `INSERT INTO ${table} SELECT ${values(table)} FROM generate_series(${first + next}, ${first + next + inserted - 1}) id`,
    `UPDATE ${table} SET version = version + 1, word = 'changed', amount = amount + 1
     WHERE id IN (${chosen} ${Math.max(1, updated - inserted - deleted)})`,
    `DELETE FROM ${table} WHERE id IN (${chosen} ${deleted})`,
    `UPDATE ${table} SET id = id + ${MOVED}, version = version + 1 WHERE id IN (${chosen} ${moved})`,
  ]
  const counts: number[] = []
  for (const statement of statements) counts.push((await connection.query(statement)).rowCount ?? 0)
  // A changed primary key is a deleted and a created row.
  const changes = counts.reduce((sum, count) => sum + count, 0) + counts[3]! + 1
  await connection.query(`UPDATE clients SET transactions = transactions + 1, changes = changes + ${changes},
    next = next + ${inserted} WHERE id = ${client}`)
  await connection.query('COMMIT')
  return changes
}
