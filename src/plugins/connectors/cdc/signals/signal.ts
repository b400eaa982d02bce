import { truncateText } from '../../../../common/truncate-text.ts'
/** A signal as it arrives: a row of the signal table, a line of the signal file, or a record of the signal topic. */
export type RawSignal = { readonly id: string; readonly type: string; readonly data: string | null }

/** A place outside of the database from which signals come. */
export interface SignalChannel {
  /** Executes the signals that have arrived. Reports errors to the log. Does nothing while the previous call has not ended. */
  poll(execute: (signal: RawSignal) => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Restricts the rows of the tables whose names match. */
export type SignalCondition = { readonly tables: string; readonly filter: string }

export type SnapshotSignal =
  | { readonly kind: 'log'; readonly message: string }
  | {
      readonly kind: 'execute'
      readonly id: string
      /** A blocking snapshot interrupts the changes. */
      readonly isBlocking: boolean
      /** Regular expressions that match SCHEMA.TABLE. */
      readonly tables: readonly string[]
      readonly conditions: readonly SignalCondition[]
      /** Column by which chunks are ordered instead of the primary key. */
      readonly surrogateKey: string | undefined
    }
  /** Without tables, the whole snapshot stops. */
  | { readonly kind: 'stop'; readonly tables: readonly string[] | undefined }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  /** A row that this connector has written itself. */
  | { readonly kind: 'watermark' }

const DATA_CHARACTERS_MAX = 1_000_000

/** Parses a JSON object with type, data and the id, which may be missing if there is a `defaultId`. Undefined if it is none. */
export function parseRawSignal(text: string, defaultId?: string): RawSignal | undefined {
  try {
    const { id = defaultId, type, data } = JSON.parse(text) as Readonly<Record<string, unknown>>
    if (typeof id !== 'string' || typeof type !== 'string') return undefined
    // The data is an object, or its text as in the signal table.
    return { id, type, data: data == null ? null : typeof data === 'string' ? data : JSON.stringify(data) }
  } catch {
    return undefined
  }
}

/** Parses a signal. Throws an `Error` with what is wrong. */
export function parseSignal({ id, type, data }: RawSignal): SnapshotSignal {
  switch (type) {
    case 'log':
      return { kind: 'log', message: textOf(parseData(data), 'message') }
    case 'execute-snapshot':
      return parseExecute(id, parseData(data))
    case 'stop-snapshot':
      return parseStop(parseData(data ?? '{}'))
    case 'pause-snapshot':
      return { kind: 'pause' }
    case 'resume-snapshot':
      return { kind: 'resume' }
    case 'snapshot-window-open':
    case 'snapshot-window-close':
      return { kind: 'watermark' }
    default:
      throw new Error(
        `the type ${truncateText(type, 100, '…')} is not supported: expected log, execute-snapshot, stop-snapshot, pause-snapshot or resume-snapshot`,
      )
  }
}

type Data = Readonly<Record<string, unknown>>

function parseExecute(id: string, data: Data): SnapshotSignal {
  const tables = tablesOf(data)
  if (tables === undefined) throw new Error('data-collections is missing: expected an array of SCHEMA.TABLE')
  const type = data['type'] === undefined ? 'incremental' : textOf(data, 'type').toLowerCase()
  if (type !== 'incremental' && type !== 'blocking') {
    throw new Error(`type is '${truncateText(type, 100, '…')}': expected incremental or blocking`)
  }
  const surrogateKey = data['surrogate-key']
  if (surrogateKey !== undefined && typeof surrogateKey !== 'string') throw new Error('surrogate-key is not a string')
  const name = surrogateKey?.trim()
  return {
    kind: 'execute',
    id,
    isBlocking: type === 'blocking',
    tables,
    conditions: conditionsOf(data, tables),
    surrogateKey: name === '' ? undefined : name,
  }
}

function parseStop(data: Data): SnapshotSignal {
  if (data['type'] !== undefined && textOf(data, 'type').toLowerCase() !== 'incremental') {
    throw new Error('only a snapshot of the type incremental can be stopped')
  }
  return { kind: 'stop', tables: tablesOf(data) }
}

function conditionsOf(data: Data, tables: readonly string[]): readonly SignalCondition[] {
  // The older form is one condition for all tables.
  if (data['additional-condition'] !== undefined) {
    const filter = textOf(data, 'additional-condition').trim()
    return filter === '' ? [] : tables.map((table) => ({ tables: table, filter }))
  }
  const conditions = data['additional-conditions'] ?? []
  if (!Array.isArray(conditions)) throw new Error('additional-conditions is not an array')
  return conditions.map((condition: unknown) => {
    if (typeof condition !== 'object' || condition === null) {
      throw new Error('an item of additional-conditions is not an object')
    }
    return {
      tables: textOf({ ...condition }, 'data-collection').trim(),
      filter: textOf({ ...condition }, 'filter').trim(),
    }
  })
}

function tablesOf(data: Data): readonly string[] | undefined {
  const tables = data['data-collections']
  if (tables === undefined) return undefined
  if (!Array.isArray(tables) || tables.length === 0 || tables.some((table) => typeof table !== 'string')) {
    throw new Error('data-collections is not an array of SCHEMA.TABLE')
  }
  return (tables as string[]).map((table) => table.trim())
}

function textOf(data: Data, name: string): string {
  const value = data[name]
  if (typeof value === 'string') return value
  throw new Error(`${name} is not a string`)
}

function parseData(data: string | null): Data {
  if (data === null) throw new Error('its data is null: expected a JSON object')
  if (data.length > DATA_CHARACTERS_MAX) throw new Error(`its data has more than ${DATA_CHARACTERS_MAX} characters`)
  let parsed: unknown
  try {
    parsed = JSON.parse(data)
  } catch {
    throw new Error(`its data is no JSON: ${truncateText(data, 100, '…')}`)
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Error(`its data is no JSON object: ${truncateText(data, 100, '…')}`)
  }
  return { ...parsed }
}
