import type { Session } from '../../session.ts'
import type { Relation } from '../replication/pgoutput.ts'
import { ReplicationProtocolError } from '../replication/protocol-error.ts'
import type { Column, Table } from './change.ts'
import { type CatalogTable, readTables } from './table-catalog.ts'
import { tableKey } from './table-key.ts'

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
    const table = toTable(relation, found)
    if (isSameTable(this.#tables.get(table.id), table)) return
    await this.#onTable(table)
    this.#tables.set(table.id, table)
  }
}

/**
 * Adds to a relation message what only the catalog contains. The catalog has no entry for a table or column that was dropped or
 * renamed after the relation message.
 */
export function toTable(relation: Relation, catalog: Pick<CatalogTable, 'table' | 'attributes'> | undefined): Table {
  const { id, schema, name, replicaIdentity } = relation
  const described = new Map(catalog?.table.columns.map((column) => [column.name, column]))
  const key = tableKey(relation, catalog)
  const columns = relation.columns.map(({ name: column, typeId, modifier }): Column => {
    const found = described.get(column)
    return {
      name: column,
      typeId,
      modifier,
      isKey: key.keyNames.includes(column),
      isOptional: found?.isOptional ?? true,
      defaultExpression: found?.defaultExpression,
    }
  })
  return { id, schema, name, replicaIdentity, columns, ...key }
}

/** The server repeats relation messages, for example after each reconnection and each invalidation of its cache. */
function isSameTable(known: Table | undefined, table: Table): boolean {
  return JSON.stringify(known) === JSON.stringify(table)
}
