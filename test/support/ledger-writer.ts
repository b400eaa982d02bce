import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './database.ts'
import { parseJson, type TopicRecord } from './debezium.ts'

export const ROWS_OF_TRANSACTION = 3
const ACCOUNTS = 50
/** Tables for a `LedgerWriter`. */
export const LEDGER_SETUP = `
  CREATE TABLE ledger (id bigserial PRIMARY KEY, transaction int NOT NULL);
  CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
  INSERT INTO accounts SELECT id, 0 FROM generate_series(1, ${ACCOUNTS}) AS id`

/** Writes transactions until it is stopped: each inserts rows of the ledger, and updates, deletes or adds an account. */
export class LedgerWriter {
  /** The last transaction. */
  static readonly END = -1
  readonly #database: Database
  readonly #done: Promise<void>
  #isStopping = false
  #nextRows = ROWS_OF_TRANSACTION
  count = 0

  constructor(database: Database) {
    this.#database = database
    this.#done = this.#run()
    // Reported by `stop`, unless the test has failed earlier.
    this.#done.catch(() => undefined)
  }

  /** Makes the next transaction one with so many rows, and returns its number. */
  enlargeNext(rows: number): number {
    this.#nextRows = rows
    return this.count + 1
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#done
    await this.#database.run(`INSERT INTO ledger (transaction) VALUES (${LedgerWriter.END})`)
  }

  async #run(): Promise<void> {
    const client = await this.#database.client()
    for (; !this.#isStopping; await sleep(10)) {
      this.count += 1
      const account = (this.count % ACCOUNTS) + 1
      const change =
        this.count % 7 === 0
          ? `DELETE FROM accounts WHERE id = ${account}`
          : `INSERT INTO accounts VALUES (${account}, 1) ON CONFLICT (id) DO UPDATE SET balance = accounts.balance + 1`
      const rows = `SELECT ${this.count} FROM generate_series(1, ${this.#nextRows})`
      this.#nextRows = ROWS_OF_TRANSACTION
      await client.query(`BEGIN; INSERT INTO ledger (transaction) ${rows}; ${change}; COMMIT`)
    }
    await client.end()
  }
}

type Row = Readonly<Record<string, unknown>>

/** The row after a change; null for a deleted one. */
export function rowAfter(change: Row | null): Row | null {
  return (change?.['after'] ?? null) as Row | null
}

/** The rows that exist after all changes. */
export function lastRows(records: readonly TopicRecord[]): readonly Row[] {
  const last = new Map(records.map(({ key, value }) => [String(key), rowAfter(parseJson(value))]))
  return [...last.values()].filter((row) => row !== null)
}
