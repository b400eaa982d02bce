import type { IdentifiedTable } from '../table.ts'
import type { ObservedChange } from './chunk-session.ts'
import type { RawSignal } from './signal.ts'

/** Values of `incremental.snapshot.watermarking.strategy`. */
export const WATERMARK_STRATEGIES = ['insert_insert', 'insert_delete'] as const
type WatermarkStrategy = (typeof WATERMARK_STRATEGIES)[number]

type SignalWriter = {
  insertSignal(table: string, signal: RawSignal): Promise<unknown>
  deleteSignal(table: string, id: string): Promise<unknown>
}

/** Reads signals from the changes of the signal table, and writes the begins and ends of chunks to it. */
export class SignalTable {
  readonly #name: string
  readonly #strategy: WatermarkStrategy

  /** `name` as `schema.table`. */
  constructor(name: string, strategy: WatermarkStrategy) {
    this.#name = name
    this.#strategy = strategy
  }

  get name(): string {
    return this.#name
  }

  /** The signal that was inserted, by position: the names of its three columns are free. Undefined for other changes. */
  signalOf(change: ObservedChange<IdentifiedTable>): RawSignal | undefined {
    if (change.kind !== 'row' || change.op !== 'c' || `${change.table.schema}.${change.table.name}` !== this.#name) {
      return undefined
    }
    const [id, type, data] = change.after ?? []
    const toText = (cell: unknown) => (typeof cell === 'string' ? cell : '')
    return { id: toText(id), type: toText(type), data: typeof data === 'string' ? data : null }
  }

  /** Writes the begin of a chunk. The stream then contains a change, also when nothing else happens. */
  open(session: SignalWriter, id: string, openedAtMs: number): Promise<unknown> {
    const data = JSON.stringify({ openWindowTimestamp: new Date(openedAtMs).toISOString() })
    return session.insertSignal(this.#name, { id: `${id}-open`, type: 'snapshot-window-open', data })
  }

  close(session: SignalWriter, id: string, openedAtMs: number, closedAtMs: number): Promise<unknown> {
    if (this.#strategy === 'insert_delete') return session.deleteSignal(this.#name, `${id}-open`)
    const [openWindowTimestamp, closeWindowTimestamp] = [openedAtMs, closedAtMs].map((ms) => new Date(ms).toISOString())
    const data = JSON.stringify({ openWindowTimestamp, closeWindowTimestamp })
    return session.insertSignal(this.#name, { id: `${id}-close`, type: 'snapshot-window-close', data })
  }
}
