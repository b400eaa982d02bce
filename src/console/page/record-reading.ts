import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { needsLogIn, RequestFailure, request, send } from './api.ts'
import {
  endPositions,
  RECORDS_MAX,
  type RecordPage,
  type RecordQuery,
  type RecordRow,
  recordJson,
  recordsPath,
  withNewer,
} from './records.ts'

export type RecordReading = {
  readonly rows: ReadonlySignal<readonly RecordRow[]>
  /** The last response; undefined before the first one. */
  readonly page: ReadonlySignal<RecordPage | undefined>
  readonly error: ReadonlySignal<RequestFailure | undefined>
  readonly isReading: ReadonlySignal<boolean>
  /** The records that all requests together have read. */
  readonly scanned: ReadonlySignal<number>
  /** Reads on from where the last request ended. */
  more(): Promise<void>
  /** The records that are shown as JSON lines, with whole keys and values. */
  lines(): Promise<Blob>
}

const FOLLOW_MS = 2_000
/** Limit of a download. */
const DOWNLOAD = { limit: '500', length: '1048576' }
const DOWNLOAD_LENGTH_MAX = 50_000_000

/** Reads the records of a topic while the calling component is shown; with `follows`, also new ones as they are written. */
export function useRecords(path: string, query: RecordQuery, follows: boolean): RecordReading {
  const key = recordsPath(path, query)
  const reading = useMemo(() => new ActiveReading(path, query), [key])
  useEffect(() => reading.start(), [reading])
  useEffect(() => (follows ? reading.follow() : undefined), [reading, follows])
  return reading
}

class ActiveReading implements RecordReading {
  readonly rows: Signal<readonly RecordRow[]> = signal([])
  readonly page: Signal<RecordPage | undefined> = signal(undefined)
  readonly error: Signal<RequestFailure | undefined> = signal(undefined)
  readonly isReading: Signal<boolean> = signal(false)
  readonly scanned: Signal<number> = signal(0)
  readonly #path: string
  readonly #query: RecordQuery
  #closing = new AbortController()
  /** Where new records begin. */
  #ends: string | undefined

  constructor(path: string, query: RecordQuery) {
    this.#path = path
    this.#query = query
  }

  /** Returns a function that ends it. */
  start(): () => void {
    this.#closing = new AbortController()
    if (this.page.value === undefined) void this.more()
    return () => this.#closing.abort()
  }

  async more(): Promise<void> {
    if (this.isReading.value) return
    this.isReading.value = true
    const positions = this.page.value?.positions ?? ''
    const page = await this.#read({ positions })
    if (page) {
      this.#ends ??= endPositions(page)
      this.page.value = page
      this.rows.value = [...this.rows.value, ...page.records].slice(0, RECORDS_MAX)
      this.scanned.value += page.scanned.records
    }
    this.isReading.value = false
  }

  /** Reads new records every 2 s. Returns a function that stops this. */
  follow(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isEnded = false
    const next = () => {
      if (!isEnded) timer = setTimeout(() => void read().then(next), FOLLOW_MS)
    }
    const read = async () => {
      // Nothing is read for a page that nobody sees, or that waits for credentials.
      if (this.#ends === undefined || document.visibilityState === 'hidden' || needsLogIn.value) return
      const page = await this.#read({ positions: this.#ends }, 'beginning')
      if (page === undefined || isEnded) return
      this.#ends = page.positions
      this.scanned.value += page.scanned.records
      if (page.records.length > 0) this.rows.value = withNewer(this.rows.value, page.records)
    }
    next()
    return () => {
      isEnded = true
      clearTimeout(timer)
    }
  }

  async lines(): Promise<Blob> {
    const parts: string[] = []
    let length = 0
    for (let positions = '', left = this.rows.value.length; left > 0 && length < DOWNLOAD_LENGTH_MAX; ) {
      const path = recordsPath(this.#path, this.#query, { ...DOWNLOAD, positions })
      const page = await request<RecordPage>('GET', path)
      for (const row of page.records.slice(0, left)) {
        const line = `${recordJson(row)}\n`
        length += line.length
        parts.push(line)
      }
      left -= page.records.length
      positions = page.positions
      if (!page.hasMore) break
    }
    return new Blob(parts, { type: 'application/x-ndjson' })
  }

  /** Undefined if it failed, or if the view was closed. */
  async #read(more: Readonly<Record<string, string>>, from = this.#query.from): Promise<RecordPage | undefined> {
    const { signal: closed } = this.#closing
    try {
      const path = recordsPath(this.#path, { ...this.#query, from }, more)
      const page = (await (await send('GET', path, { signal: closed })).json()) as RecordPage
      this.error.value = undefined
      return page
    } catch (error) {
      if (!closed.aborted)
        this.error.value = error instanceof RequestFailure ? error : new RequestFailure(0, String(error))
      return undefined
    }
  }
}
