import type { Schema, SinkRecord } from '../../../../sdk/index.ts'
import type { SinkColumn } from './sink-columns.ts'

/** A record with its column texts: all columns for a write, only the key columns for a delete. */
export type RowChange = {
  readonly record: SinkRecord
  readonly isDelete: boolean
  readonly cells: readonly (string | null)[]
}

/** Changes of one table by records of one shape, in their original order. */
export type ChangeGroup = {
  readonly table: string
  readonly columns: readonly SinkColumn[]
  readonly changes: readonly RowChange[]
}

/** Deletes, then writes, that together have the same effect as all changes in their original order. */
export type CompactedChanges = { readonly deletes: readonly RowChange[]; readonly writes: readonly RowChange[] }

/**
 * Compacts the changes so that each statement affects a row only once. With a key, a write replaces earlier writes of
 * the same key, and a delete replaces all earlier changes. With `insert`, writes are never merged, so the server
 * rejects a duplicate key.
 */
export function compactChanges(
  { columns, changes }: ChangeGroup,
  insertMode: 'insert' | 'upsert' | 'update',
): CompactedChanges {
  const keys = columns.filter(({ isKey }) => isKey).length
  if (keys === 0) return { deletes: [], writes: changes }
  const byKey = new Map<string, { deleted: RowChange | undefined; writes: readonly RowChange[] }>()
  for (const change of changes) {
    const key = JSON.stringify(change.cells.slice(0, keys))
    const before = byKey.get(key) ?? { deleted: undefined, writes: [] }
    // Move the key to the end, to keep the order of the last changes.
    byKey.delete(key)
    if (change.isDelete) byKey.set(key, { deleted: change, writes: [] })
    else byKey.set(key, { ...before, writes: insertMode === 'insert' ? [...before.writes, change] : [change] })
  }
  const compacted = [...byKey.values()]
  return {
    deletes: compacted.flatMap(({ deleted }) => deleted ?? []),
    writes: compacted.flatMap(({ writes }) => writes),
  }
}

/** Returns the texts of one column for all changes. */
export function cellsOf(changes: readonly RowChange[], column: number): readonly (string | null)[] {
  return changes.map(({ cells }) => cells[column] ?? null)
}

const texts = new WeakMap<Schema, string>()

/** Compares by content. Converters create one object per schema, so texts are computed only once for each. */
export function hasSameSchema(a: Schema | null, b: Schema | null): boolean {
  if (a === b) return true
  return a !== null && b !== null && textOf(a) === textOf(b)
}

function textOf(schema: Schema): string {
  const known = texts.get(schema)
  if (known !== undefined) return known
  const text = JSON.stringify(schema, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
  texts.set(schema, text)
  return text
}
