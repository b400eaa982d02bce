import type { Session } from '../../session.ts'
import type { Relation } from '../replication/pgoutput.ts'
import { ReplicationProtocolError } from '../replication/protocol-error.ts'
import type { Column, Table } from './change.ts'
import { type ColumnDescription, describeColumns } from './table-description.ts'

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
    const table = toTable(relation, await describeColumns(this.#session, relation.id))
    if (isSameTable(this.#tables.get(table.id), table)) return
    await this.#onTable(table)
    this.#tables.set(table.id, table)
  }
}

/** Combines a relation message with the catalog, where a column may be missing that was dropped or renamed since. */
export function toTable(relation: Relation, descriptions: readonly ColumnDescription[]): Table {
  const { id, schema, name, replicaIdentity } = relation
  const described = new Map(descriptions.map((description) => [description.name, description]))
  const keyNames = keyNamesOf(relation, described)
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
 * The key of the catalog, if the server sends its old values. Otherwise the replica identity: it is the primary key at the
 * position of the stream, or an index that was chosen instead of it, and the key of a deleted row must be known.
 */
function keyNamesOf(relation: Relation, described: ReadonlyMap<string, ColumnDescription>): readonly string[] {
  const position = ({ name }: { readonly name: string }) => described.get(name)?.keyPosition
  const key = relation.columns.filter((column) => position(column) !== undefined)
  const identity = relation.columns.filter(({ isIdentity }) => isIdentity)
  const isSent = key.length > 0 && key.every(({ isIdentity }) => isIdentity)
  const usesKey = relation.replicaIdentity === 'index' ? isSent : relation.replicaIdentity !== 'default'
  const chosen = identity.length === 0 || usesKey ? key : identity
  return chosen.toSorted((a, b) => (position(a) ?? 0) - (position(b) ?? 0)).map(({ name }) => name)
}

/** The server repeats relation messages, for example after each reconnection and each invalidation of its cache. */
function isSameTable(known: Table | undefined, table: Table): boolean {
  return JSON.stringify(known) === JSON.stringify(table)
}
