import type pg from 'pg'
import type { Database } from '../database.ts'

/** One statement, with the connection that sends it. */
export type Statement = { readonly client: number; readonly sql: string }

/**
 * A part of a workload. The connectors have read all of it before the next phase begins: Debezium reads the catalog when it sees
 * a changed table, so its events depend on what else has changed since.
 */
export type Phase = { readonly title: string; readonly statements: readonly Statement[] }

/** Changes of a database. The statements of `setup` run before the snapshot. */
export type Workload = { readonly setup: readonly string[]; readonly phases: readonly Phase[] }

/** A phase with one connection, in which each statement is a transaction unless it says otherwise. */
export function phase(title: string, ...statements: readonly string[]): Phase {
  return { title, statements: statements.map((sql) => ({ client: 0, sql })) }
}

/** The connections of a workload, opened when a statement needs them. */
export class WorkloadClients implements AsyncDisposable {
  readonly #database: Database
  readonly #clients = new Map<number, pg.Client>()

  constructor(database: Database) {
    this.#database = database
  }

  async run({ title, statements }: Phase): Promise<void> {
    for (const { client, sql } of statements) {
      const connection = this.#clients.get(client) ?? (await this.#database.client())
      this.#clients.set(client, connection)
      await connection.query(sql).catch((error: Error) => {
        throw new Error(`${title}: ${error.message} in ${sql.slice(0, 500)}`)
      })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients.values()) await client.end()
  }
}
