import { type Cell, type Row, UNSENT } from '../../../cdc/table.ts'
import { DatabaseError } from '../../../jdbc/database-error.ts'
import { quoted } from '../../../jdbc/identifier.ts'
import type { RowTexts } from '../../../jdbc/row-texts.ts'
import type { Session } from '../../session.ts'
import type { DatabaseChange, Table } from '../changes/change.ts'

/** Rows of a query. The number of its parameters is limited. */
const ROWS_MAX = 500

/** SQLSTATE codes of a table or a column that no longer exists, and of a key whose column has another type now. */
const TABLE_CHANGED: ReadonlySet<string | undefined> = new Set(['42P01', '42703', '42883'])

type RowChange = Extract<DatabaseChange, { readonly kind: 'row' }> & { readonly after: Row }

/**
 * Reads values that the server did not send, because they are stored out of line and did not change. What it reads is the
 * present value, which a later change may have written. A row that no longer exists stays as it is: its delete follows. So do the
 * rows of a table that was dropped or altered after the change.
 */
export class ToastReselect {
  readonly #session: Pick<Session, 'query'>
  readonly #isCaptured: (table: Table) => boolean

  constructor(session: Pick<Session, 'query'>, isCaptured: (table: Table) => boolean) {
    this.#session = session
    this.#isCaptured = isCaptured
  }

  /** Returns the changes with the values. */
  async complete(changes: readonly DatabaseChange[]): Promise<readonly DatabaseChange[]> {
    const incomplete = changes.filter((change) => this.#isIncomplete(change))
    if (incomplete.length === 0) return changes
    const completed = new Map<DatabaseChange, DatabaseChange>()
    for (const group of groupsOf(incomplete)) {
      for (let start = 0; start < group.length; start += ROWS_MAX) {
        await this.#completeGroup(group.slice(start, start + ROWS_MAX), completed)
      }
    }
    return changes.map((change) => completed.get(change) ?? change)
  }

  #isIncomplete(change: DatabaseChange): change is RowChange {
    if (change.kind !== 'row' || change.after === undefined || change.table.keyNames.length === 0) return false
    const { table, before, after } = change
    const isKnown = keyIndexes(table).every((index) => typeof after[index] === 'string')
    const isMissing = after.some((cell, index) => cell === UNSENT && (before?.[index] ?? null) === null)
    return isKnown && isMissing && this.#isCaptured(table)
  }

  async #completeGroup(group: readonly RowChange[], completed: Map<DatabaseChange, DatabaseChange>): Promise<void> {
    const { table, after } = group[0]!
    const unsent = unsentIndexes(after)
    const keys = keyIndexes(table)
    const keyTexts = new Map(group.map((change) => [JSON.stringify(keyCells(change.after, keys)), change.after]))
    const values = [...keyTexts.values()].flatMap((row) => keyCells(row, keys))
    const rows = await this.#read(table, selectStatement(table, { keys, unsent, rowCount: keyTexts.size }), values)
    const found = new Map(rows.map((row) => [JSON.stringify(row.slice(0, keys.length)), row.slice(keys.length)]))
    for (const change of group) {
      const present = found.get(JSON.stringify(keyCells(change.after, keys)))
      if (present === undefined) continue
      const cells: Cell[] = [...change.after]
      for (const [at, index] of unsent.entries()) cells[index] = present[at] ?? null
      completed.set(change, { ...change, after: cells })
    }
  }

  async #read(
    { schema, name }: Table,
    statement: string,
    values: readonly (string | null)[],
  ): Promise<readonly RowTexts[]> {
    try {
      return await this.#session.query(`read unchanged values of the table ${schema}.${name}`, statement, values)
    } catch (error) {
      const isChanged = error instanceof DatabaseError && (TABLE_CHANGED.has(error.sqlState) || error.isAboutData)
      if (isChanged) return []
      throw error
    }
  }
}

/** Groups of changes of one version of a table that lack the same columns. */
function groupsOf(changes: readonly RowChange[]): readonly (readonly RowChange[])[] {
  const tables = [...Map.groupBy(changes, ({ table }) => table).values()]
  return tables.flatMap((group) => [...Map.groupBy(group, ({ after }) => unsentIndexes(after).join()).values()])
}

function unsentIndexes(row: Row): readonly number[] {
  return row.flatMap((cell, index) => (cell === UNSENT ? index : []))
}

function keyIndexes({ keyNames, columns }: Table): readonly number[] {
  return keyNames.map((name) => columns.findIndex((column) => column.name === name))
}

function keyCells(row: Row, keys: readonly number[]): readonly (string | null)[] {
  return keys.map((index) => row[index] as string | null)
}

/** Selects no rows if the type of a column has changed: the values could not be decoded. */
function selectStatement(
  { schema, name, columns }: Table,
  {
    keys,
    unsent,
    rowCount,
  }: { readonly keys: readonly number[]; readonly unsent: readonly number[]; readonly rowCount: number },
): string {
  const names = (indexes: readonly number[]) => indexes.map((index) => quoted(columns[index]!.name)).join(', ')
  const parameters = Array.from({ length: rowCount }, (_, row) => {
    return `(${keys.map((_key, at) => `$${row * keys.length + at + 1}`).join(', ')})`
  })
  const hasType = unsent.map((index) => {
    const { name: column, typeId } = columns[index]!
    return ` AND pg_typeof(${quoted(column)}) = '${typeId}'::regtype`
  })
  const place = `${quoted(schema)}.${quoted(name)}`
  return `SELECT ${names([...keys, ...unsent])} FROM ${place} WHERE (${names(keys)}) IN (${parameters.join(', ')})${hasType.join('')}`
}
