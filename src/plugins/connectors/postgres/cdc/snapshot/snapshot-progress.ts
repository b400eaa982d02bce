import { truncateText } from '../../../../../common/truncate-text.ts'
import {
  ALL_PAGES,
  addPageRange,
  missingPageRanges,
  parsePageRanges,
  printPageRanges,
  type TablePageRange,
} from './page-ranges.ts'

/** Which transactions the first snapshot sees, as `pg_current_snapshot()` describes it. Transaction ids have 32 bits. */
export type SnapshotBounds = {
  /** All transactions with a lower id have ended. */
  readonly xmin: number
  /** No transaction with this or a higher id is visible. */
  readonly xmax: number
  /** Transactions between both that are not visible. */
  readonly running: readonly number[]
}

/** What is read of one table. */
type RelationProgress = { readonly fileNumber: number; readonly pages: readonly TablePageRange[] }

/** Ids that are stored of running transactions. The rows of others are read twice in tables without a key. */
const RUNNING_MAX = 1_000
const XID_BITS = 32

/**
 * What a snapshot has read, as it is stored with the source offset. A page range is read when all of its rows are in
 * batches that were yielded. The text stays small: tables that are read are ranges of OIDs, pages are ranges, too.
 */
export class SnapshotProgress {
  readonly bounds: SnapshotBounds
  readonly #done: Set<number>
  readonly #reading: Map<number, RelationProgress>
  #rows: number
  #text: string | undefined

  private constructor(
    bounds: SnapshotBounds,
    done: Iterable<number>,
    reading: ReadonlyMap<number, RelationProgress>,
    rows: number,
  ) {
    this.bounds = bounds
    this.#done = new Set(done)
    this.#reading = new Map(reading)
    this.#rows = rows
  }

  /** `currentSnapshot` is the text of `pg_current_snapshot()`. */
  static start(currentSnapshot: string): SnapshotProgress {
    return new SnapshotProgress(parseSnapshotBounds(currentSnapshot), [], new Map(), 0)
  }

  /** Parses a stored progress. Throws if it is damaged, because rows would be missing if it were ignored in part. */
  static parse(text: string): SnapshotProgress {
    const stored = parseObject(text)
    const [xmin, xmax, rows] = [stored['xmin'], stored['xmax'], stored['rows']].map(toInteger)
    const running = Array.isArray(stored['running']) ? stored['running'].map(toInteger) : [undefined]
    const done = typeof stored['done'] === 'string' ? parseIds(stored['done']) : undefined
    const reading = parseReading(stored['reading'])
    if ([xmin, xmax, rows, done, reading, ...running].includes(undefined)) throw damaged(text)
    const bounds = { xmin: xmin!, xmax: xmax!, running: running as number[] }
    return new SnapshotProgress(bounds, done!, reading!, rows!)
  }

  /** Rows that were read, also those before a restart. */
  get rows(): number {
    return this.#rows
  }

  addRows(count: number): void {
    this.#rows += count
    this.#text = undefined
  }

  isDone(id: number): boolean {
    return this.#done.has(id)
  }

  /** The pages of a table that are not read. All, if it was rewritten since, because its rows are in other pages now. */
  missing(id: number, fileNumber: number): readonly TablePageRange[] {
    if (this.#done.has(id)) return []
    const progress = this.#reading.get(id)
    return progress?.fileNumber === fileNumber ? missingPageRanges(progress.pages) : [ALL_PAGES]
  }

  /** The pages of a table that are read. */
  read(id: number, fileNumber: number): readonly TablePageRange[] {
    if (this.#done.has(id)) return [ALL_PAGES]
    const progress = this.#reading.get(id)
    return progress?.fileNumber === fileNumber ? progress.pages : []
  }

  addPages(id: number, fileNumber: number, pages: TablePageRange): void {
    const read = addPageRange(this.read(id, fileNumber), pages)
    if (missingPageRanges(read).length === 0) {
      this.#done.add(id)
      this.#reading.delete(id)
    } else {
      this.#reading.set(id, { fileNumber, pages: read })
    }
    this.#text = undefined
  }

  print(): string {
    this.#text ??= JSON.stringify({
      ...this.bounds,
      running: this.bounds.running.slice(0, RUNNING_MAX),
      rows: this.#rows,
      done: printIds(this.#done),
      reading: Object.fromEntries(
        [...this.#reading].map(([id, { fileNumber, pages }]) => [id, [fileNumber, printPageRanges(pages)]]),
      ),
    })
    return this.#text
  }
}

/**
 * Parses the text of `pg_current_snapshot()`: `xmin:xmax:xid,xid`. Its transaction ids have 64 bits; those of rows and of the
 * replication stream are the lower 32 bits.
 */
export function parseSnapshotBounds(text: string): SnapshotBounds {
  const [, xmin, xmax, running] = /^(\d+):(\d+):([\d,]*)$/.exec(text) ?? []
  if (running === undefined) throw new Error(`'${text}' is not a snapshot of PostgreSQL`)
  const toRowId = (id: string) => Number(BigInt.asUintN(XID_BITS, BigInt(id)))
  return {
    xmin: toRowId(xmin!),
    xmax: toRowId(xmax!),
    running: running.split(',').filter(Boolean).map(toRowId),
  }
}

/** Prints ids as `1-5,7`. */
export function printIds(ids: ReadonlySet<number>): string {
  const ranges: [first: number, last: number][] = []
  for (const id of [...ids].toSorted((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range !== undefined && range[1] === id - 1) range[1] = id
    else ranges.push([id, id])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}

/** Stored ids that are more than this are damage: no database has so many tables. */
const IDS_MAX = 10_000_000

export function parseIds(text: string): readonly number[] | undefined {
  if (text === '') return []
  const ids: number[] = []
  for (const part of text.split(',')) {
    const [, first, last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part) ?? []
    if (first === undefined || Number(last) - Number(first) + ids.length > IDS_MAX) return undefined
    for (let id = Number(first); id <= Number(last); id += 1) ids.push(id)
  }
  return ids
}

function parseReading(stored: unknown): ReadonlyMap<number, RelationProgress> | undefined {
  if (typeof stored !== 'object' || stored === null) return undefined
  const reading = new Map<number, RelationProgress>()
  for (const [id, value] of Object.entries(stored)) {
    const [fileNumber, text] = Array.isArray(value) ? value : []
    const pages = typeof text === 'string' ? parsePageRanges(text) : undefined
    if (toInteger(Number(id)) === undefined || toInteger(fileNumber) === undefined || !pages) return undefined
    reading.set(Number(id), { fileNumber, pages })
  }
  return reading
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) return { ...parsed }
  } catch {
    // Reported below.
  }
  throw damaged(text)
}

function toInteger(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

function damaged(text: string): Error {
  return new Error(
    `the stored progress of the snapshot is damaged: ${truncateText(text, 200, '…')}. Delete the offsets of the connector to read all tables again`,
  )
}
