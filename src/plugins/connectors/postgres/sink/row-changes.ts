import type { Schema, SinkRecord } from '../../../../sdk/index.ts'
import type { SinkColumn } from './columns.ts'

/** A record as the texts of a row: all columns of a write, those of the key of a delete. */
export type RowChange = {
  readonly record: SinkRecord
  readonly isDelete: boolean
  readonly cells: readonly (string | null)[]
}

/** Changes of one table by records of one shape, in their order. */
export type ChangeGroup = {
  readonly table: string
  readonly columns: readonly SinkColumn[]
  readonly changes: readonly RowChange[]
}

/** What a statement for deletes and then one for writes have to do, so that each row is as after all changes in turn. */
export type CompactedChanges = { readonly deletes: readonly RowChange[]; readonly writes: readonly RowChange[] }

/**
 * One statement may touch a row once. With keys, what is written later takes the place of what was before it, and a
 * delete of what was before; an insert never takes the place of another, so that the server refuses the second.
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
    // Whoever comes last stands last, as the rows would.
    byKey.delete(key)
    if (change.isDelete) byKey.set(key, { deleted: change, writes: [] })
    else byKey.set(key, { ...before, writes: insertMode === 'insert' ? [...before.writes, change] : [change] })
  }
  const folded = [...byKey.values()]
  return { deletes: folded.flatMap(({ deleted }) => deleted ?? []), writes: folded.flatMap(({ writes }) => writes) }
}

/** The texts of one column of all changes. */
export function cellsOf(changes: readonly RowChange[], column: number): readonly (string | null)[] {
  return changes.map(({ cells }) => cells[column] ?? null)
}

const texts = new WeakMap<Schema, string>()

/** Whether both describe the same; converters make one object for each, so the texts are compared once. */
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
