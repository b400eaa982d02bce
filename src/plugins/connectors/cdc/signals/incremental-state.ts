import type { Position as StoredOffset } from '../../../../sdk/index.ts'

/** A table that an incremental snapshot reads or will read. */
export type IncrementalTable = {
  /** As `schema.table`. */
  readonly name: string
  /** SQL condition on its rows. */
  readonly condition: string | undefined
  /** Column by which chunks are ordered instead of the primary key. */
  readonly surrogateKey: string | undefined
}

/** Cells of the columns by which chunks are ordered. */
export type ChunkKey = readonly string[]

/** An incremental snapshot, as it is stored with the source offset. The first table is being read. */
export type IncrementalState = {
  /** The id of the signal that started it. */
  readonly signalId: string
  readonly tables: readonly IncrementalTable[]
  /** The key of the last row of the first table that was written; undefined at its beginning. */
  readonly lastKey: ChunkKey | undefined
  /** The highest key of the first table when its reading began. Later rows come from the stream. */
  readonly maximumKey: ChunkKey | undefined
  /** The columns of both keys, with their types. The first table is read from its beginning if its rows have another order by now. */
  readonly keyColumns: readonly string[] | undefined
  readonly isPaused: boolean
}

const COLLECTIONS = 'incremental_snapshot_collections'
const KEYS = {
  signalId: 'incremental_snapshot_correlation_id',
  tables: COLLECTIONS,
  // Debezium stores keys under `incremental_snapshot_primary_key` and `incremental_snapshot_maximum_key`, as serialized objects
  // of Java. It reads the first table from its beginning if they are missing.
  lastKey: 'incremental_snapshot_last_key_text',
  maximumKey: 'incremental_snapshot_maximum_key_text',
  keyColumns: 'incremental_snapshot_key_columns',
  isPaused: 'incremental_snapshot_paused',
} as const

/** Keys of the stored offset, with Debezium's names and format where it has one. Empty without a snapshot. */
export function printIncrementalState(state: IncrementalState | undefined): StoredOffset {
  if (state === undefined || state.tables.length === 0) return {}
  const tables = state.tables.map(({ name, condition, surrogateKey }) => ({
    [`${COLLECTIONS}_id`]: name,
    [`${COLLECTIONS}_additional_condition`]: condition ?? '',
    [`${COLLECTIONS}_surrogate_key`]: surrogateKey ?? '',
  }))
  return {
    [KEYS.signalId]: state.signalId,
    [KEYS.tables]: JSON.stringify(tables),
    ...(state.lastKey !== undefined && { [KEYS.lastKey]: JSON.stringify(state.lastKey) }),
    ...(state.maximumKey !== undefined && { [KEYS.maximumKey]: JSON.stringify(state.maximumKey) }),
    ...(state.keyColumns !== undefined && { [KEYS.keyColumns]: JSON.stringify(state.keyColumns) }),
    ...(state.isPaused && { [KEYS.isPaused]: true }),
  }
}

/** Parses the keys of a stored offset, also of one that Debezium has stored. Throws an `Error` if they are damaged. */
export function parseIncrementalState(stored: StoredOffset): IncrementalState | undefined {
  const collections = stored[KEYS.tables]
  if (collections === undefined || collections === null || collections === '') return undefined
  const tables = parseTables(collections)
  if (tables === undefined) {
    throw new Error(`'${KEYS.tables}' of an offset must be the tables of an incremental snapshot as a JSON array`)
  }
  if (tables.length === 0) return undefined
  const signalId = stored[KEYS.signalId]
  const keys = { last: parseKey(stored, KEYS.lastKey), maximum: parseKey(stored, KEYS.maximumKey) }
  return {
    signalId: typeof signalId === 'string' ? signalId : '',
    tables,
    // One without the other does not say where to continue.
    lastKey: keys.maximum === undefined ? undefined : keys.last,
    maximumKey: keys.maximum,
    keyColumns: parseKey(stored, KEYS.keyColumns),
    isPaused: stored[KEYS.isPaused] === true,
  }
}

function parseTables(text: unknown): readonly IncrementalTable[] | undefined {
  const parsed = parseJson(text)
  if (!Array.isArray(parsed)) return undefined
  const tables = parsed.map((item: unknown): IncrementalTable | undefined => {
    const table = typeof item === 'object' && item !== null ? (item as Readonly<Record<string, unknown>>) : {}
    const [name, condition, surrogateKey] = ['id', 'additional_condition', 'surrogate_key'].map((key) => {
      const value = table[`${COLLECTIONS}_${key}`]
      return typeof value === 'string' && value !== '' ? value : undefined
    })
    return name === undefined ? undefined : { name, condition, surrogateKey }
  })
  return tables.every((table) => table !== undefined) ? tables : undefined
}

function parseKey(stored: StoredOffset, key: string): ChunkKey | undefined {
  const value = stored[key]
  if (value === undefined || value === null) return undefined
  const parsed = parseJson(value)
  if (Array.isArray(parsed) && parsed.length > 0 && parsed.every((cell) => typeof cell === 'string')) return parsed
  throw new Error(`'${key}' of an offset must be the key of a row as a JSON array of strings`)
}

function parseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
