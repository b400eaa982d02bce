/** How far a snapshot is, for the log and for metrics. */
export type SnapshotStatus = {
  readonly tables: number
  readonly tablesDone: number
  /** Rows that were read, also those before a restart. */
  readonly rows: number
  /** By the size of the tables; 100 only at the end. */
  readonly percent: number
  /** Undefined until it can be estimated. */
  readonly remainingMs: number | undefined
}

type TableSize = { readonly pages: number; pagesDone: number; isDone: boolean }

/** Estimates the remaining time of a snapshot from the pages that were read since it was started or continued. */
export class SnapshotClock {
  readonly #tables = new Map<number, TableSize>()
  readonly #startMs: number
  readonly #nowMs: () => number
  #pages = 0
  #pagesDone = 0
  #pagesBefore = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
    this.#startMs = nowMs()
  }

  /** An empty table counts as one page, because it takes time, too. */
  addTable(id: number, pages: number, pagesReadBefore: number): void {
    const size = Math.max(1, pages)
    const before = Math.min(size, pagesReadBefore)
    this.#tables.set(id, { pages: size, pagesDone: before, isDone: false })
    this.#pages += size
    this.#pagesBefore += before
    this.#pagesDone += before
  }

  addPages(id: number, pages: number): void {
    const table = this.#tables.get(id)
    if (table === undefined) return
    const added = Math.min(pages, table.pages - table.pagesDone)
    table.pagesDone += added
    this.#pagesDone += added
  }

  endTable(id: number): void {
    const table = this.#tables.get(id)
    if (table === undefined) return
    this.addPages(id, table.pages)
    table.isDone = true
  }

  status(rows: number): SnapshotStatus {
    const tables = [...this.#tables.values()]
    const tablesDone = tables.filter(({ isDone }) => isDone).length
    const read = this.#pagesDone - this.#pagesBefore
    const remaining = this.#pages - this.#pagesDone
    const percent = this.#pages === 0 ? 100 : Math.floor((100 * this.#pagesDone) / this.#pages)
    return {
      tables: tables.length,
      tablesDone,
      rows,
      percent: tablesDone === tables.length ? 100 : Math.min(99, percent),
      remainingMs: read > 0 ? Math.round(((this.#nowMs() - this.#startMs) * remaining) / read) : undefined,
    }
  }
}
