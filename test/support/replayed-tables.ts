import type { SourceRecord } from '../../src/sdk/index.ts'

const UNAVAILABLE = '__debezium_unavailable_value'

type Row = Readonly<Record<string, unknown>>

/** The tables that the records of a topic describe, as a consumer builds them that keeps the last state of each key. */
export class ReplayedTables {
  readonly #tables = new Map<string, Map<string, Row>>()

  apply(records: readonly SourceRecord[]): void {
    for (const { topic, key, value } of records) {
      // A tombstone follows a delete.
      if (value === null) continue
      const { op, before, after } = value as {
        readonly op: string
        readonly before: Row | null
        readonly after: Row | null
      }
      const table = this.#table(topic)
      // The rows of a table without a key are a set.
      const id = JSON.stringify(key ?? after ?? before)
      if (op === 'd') table.delete(id)
      else table.set(id, complete(after!, table.get(id)))
    }
  }

  /** The rows of a topic, in the order of their JSON text. */
  rows(topic: string): readonly Row[] {
    const text = (row: Row) => JSON.stringify(row)
    return [...this.#table(topic).values()].toSorted((a, b) => (text(a) < text(b) ? -1 : 1))
  }

  #table(topic: string): Map<string, Row> {
    const table = this.#tables.get(topic) ?? new Map<string, Row>()
    this.#tables.set(topic, table)
    return table
  }
}

/** A value that was not sent because it did not change is that of the row before. */
function complete(row: Row, previous: Row | undefined): Row {
  const cells = Object.entries(row).map(([name, cell]) => [
    name,
    cell === UNAVAILABLE ? (previous?.[name] ?? cell) : cell,
  ])
  return Object.fromEntries(cells)
}
