import type { Session } from '../../session.ts'
import type { Relation } from '../replication/pgoutput.ts'
import { ReplicationProtocolError } from '../replication/protocol-error.ts'
import type { Column, Table } from './change.ts'
import { readTables } from './table-catalog.ts'

/** Called with each version of a table before its first row. */
export type OnTable = (table: Table) => Promise<void>

/**
 * The tables of the stream, as of its present position. A relation message precedes the first row of a table and the first
 * row after each change of the table. What the message does not contain is read from the catalog, which may already be ahead.
 */
export class Relations {
  readonly #session: Session
  readonly #onTable: OnTable
  readonly #tables = new Map<number, Table>()

  constructor(session: Session, onTable: OnTable = async () => undefined) {
    this.#session = session
    this.#onTable = onTable
  }

  /** Throws a `ReplicationProtocolError` for a table without a relation message. */
  get(id: number): Table {
    const table = this.#tables.get(id)
    if (table === undefined)
      throw new ReplicationProtocolError(`the server sent a row of the unknown table with the OID ${id}`)
    return table
  }

  async update(relation: Relation): Promise<void> {
    const [found] = await readTables(this.#session, [relation.id])
    const table = toTable(relation, found?.table)
    if (isSameTable(this.#tables.get(table.id), table)) return
    await this.#onTable(table)
    this.#tables.set(table.id, table)
  }
}

/**
 * Adds to a relation message what only the catalog contains. The catalog has no entry for a table or column that was dropped or
 * renamed after the relation message.
 */
export function toTable(relation: Relation, catalogTable: Table | undefined): Table {
  const { id, schema, name, replicaIdentity } = relation
  const described = new Map(catalogTable?.columns.map((column) => [column.name, column]))
  const keyNames = keyNamesOf(relation, catalogTable?.keyNames ?? [])
  const columns = relation.columns.map(({ name: column, typeId, modifier }): Column => {
    const found = described.get(column)
    return {
      name: column,
      typeId,
      modifier,
      isKey: keyNames.includes(column),
      isOptional: found?.isOptional ?? true,
      defaultExpression: found?.defaultExpression,
    }
  })
  return { id, schema, name, replicaIdentity, columns, keyNames }
}

/**
 * Returns the key of the catalog if the server sends the old values of all its columns. Otherwise returns the columns of the
 * replica identity, because the key of a deleted row must be known. These columns are the primary key as of the relation
 * message, or the index of `REPLICA IDENTITY USING INDEX`.
 */
function keyNamesOf(relation: Relation, catalogKey: readonly string[]): readonly string[] {
  const key = relation.columns.filter(({ name }) => catalogKey.includes(name))
  const identity = relation.columns.filter(({ isIdentity }) => isIdentity)
  const isSent = key.length > 0 && key.every(({ isIdentity }) => isIdentity)
  const usesKey = relation.replicaIdentity === 'index' ? isSent : relation.replicaIdentity !== 'default'
  const chosen = identity.length === 0 || usesKey ? key : identity
  return chosen.map(({ name }) => name).toSorted((a, b) => catalogKey.indexOf(a) - catalogKey.indexOf(b))
}

/** The server repeats relation messages, for example after each reconnection and each invalidation of its cache. */
function isSameTable(known: Table | undefined, table: Table): boolean {
  return JSON.stringify(known) === JSON.stringify(table)
}
