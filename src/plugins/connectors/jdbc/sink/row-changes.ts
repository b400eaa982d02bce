import type { Schema, SinkRecord } from '../../../../sdk/index.ts'
import type { SinkColumn } from './sink-column.ts'

/** Changes of one table by records of one shape, in their original order. A record without a value is a delete. */
export type ChangeGroup<Form> = {
  readonly table: string
  readonly columns: readonly SinkColumn<Form>[]
  readonly records: readonly SinkRecord[]
}

/** Deletes, then writes, that together have the same effect as all changes in their original order. */
export type CompactedChanges = {
  readonly deletes: readonly SinkRecord[]
  readonly writes: readonly SinkRecord[]
  /** Writes that have no effect because a later record has the same key. */
  readonly superseded: readonly SinkRecord[]
}

export function isDelete({ value }: SinkRecord): boolean {
  return value === null || value === undefined
}

/**
 * Compacts the changes so that each statement affects a row only once. With a key, a write replaces earlier writes of
 * the same key, and a delete replaces all earlier changes. With `insert`, writes are never merged, so the server
 * rejects a duplicate key.
 */
export function compactChanges<Form>(
  { columns, records }: ChangeGroup<Form>,
  insertMode: 'insert' | 'upsert' | 'update',
): CompactedChanges {
  const keyColumns = columns.filter(({ isKey }) => isKey)
  const merges = insertMode !== 'insert'
  if (keyColumns.length === 0 || (!merges && !records.some(isDelete))) {
    return { deletes: [], writes: records, superseded: [] }
  }
  const keys = records.map(keyReader(keyColumns))
  const lastDeletes = lastIndexes(records, keys, isDelete)
  const lastWrites = lastIndexes(records, keys, (record) => !isDelete(record))
  const isLast = (index: number) => lastWrites.get(keys[index]!) === index
  const isDeletedLater = (index: number) => index < (lastDeletes.get(keys[index]!) ?? -1)
  const hasEffect = (index: number) => !isDeletedLater(index) && (!merges || isLast(index))
  return {
    deletes: records.filter((record, index) => isDelete(record) && !isDeletedLater(index)),
    writes: records.filter((record, index) => !isDelete(record) && hasEffect(index)),
    superseded: records.filter((record, index) => !isDelete(record) && !hasEffect(index)),
  }
}

/** The index of the last of the chosen records of each key. */
function lastIndexes(
  records: readonly SinkRecord[],
  keys: readonly (string | null)[],
  isChosen: (record: SinkRecord) => boolean,
): ReadonlyMap<string | null, number> {
  const last = new Map<string | null, number>()
  for (const [index, record] of records.entries()) if (isChosen(record)) last.set(keys[index]!, index)
  return last
}

/** Returns a function for the key of a record, as a text that is different for each key. */
function keyReader([first, ...others]: readonly SinkColumn<unknown>[]): (record: SinkRecord) => string | null {
  if (others.length === 0) return first!.textOf
  return (record) => JSON.stringify([first!, ...others].map(({ textOf }) => textOf(record)))
}

/** Throws a `DataError` if a value of these records cannot be converted. */
export function checkValues(records: readonly SinkRecord[], columns: readonly SinkColumn<unknown>[]): void {
  for (const record of records) for (const column of columns) column.textOf(record)
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
