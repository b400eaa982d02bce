import type { RawSignal } from '../../../../cdc/signals/signal.ts'
import { quoted } from '../../../../jdbc/identifier.ts'
import type { Session } from '../../../session.ts'
import type { DatabaseChange } from '../../changes/change.ts'
import type { WatermarkStrategy } from '../../config/signal-keys.ts'

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
  signalOf(change: DatabaseChange): RawSignal | undefined {
    if (change.kind !== 'row' || change.op !== 'c' || `${change.table.schema}.${change.table.name}` !== this.#name) {
      return undefined
    }
    const [id, type, data] = change.after ?? []
    const toText = (cell: unknown) => (typeof cell === 'string' ? cell : '')
    return { id: toText(id), type: toText(type), data: typeof data === 'string' ? data : null }
  }

  /** Writes the begin of a chunk. The stream then contains a change, also when nothing else happens. */
  open(session: Session, id: string, openedAtMs: number): Promise<unknown> {
    const data = JSON.stringify({ openWindowTimestamp: new Date(openedAtMs).toISOString() })
    return this.#insert(session, `${id}-open`, 'snapshot-window-open', data)
  }

  close(session: Session, id: string, openedAtMs: number, closedAtMs: number): Promise<unknown> {
    if (this.#strategy === 'insert_delete') {
      const text = `DELETE FROM ${this.#table()} WHERE id = $1`
      return session.query(`delete the begin of a chunk from the signal table ${this.#name}`, text, [`${id}-open`])
    }
    const [openWindowTimestamp, closeWindowTimestamp] = [openedAtMs, closedAtMs].map((ms) => new Date(ms).toISOString())
    const data = JSON.stringify({ openWindowTimestamp, closeWindowTimestamp })
    return this.#insert(session, `${id}-close`, 'snapshot-window-close', data)
  }

  #insert(session: Session, id: string, type: string, data: string): Promise<unknown> {
    const text = `INSERT INTO ${this.#table()} VALUES ($1, $2, $3)`
    return session.query(`write the window of a chunk to the signal table ${this.#name}`, text, [id, type, data])
  }

  #table(): string {
    const [, schema = '', name = ''] = /^([^.]*)\.(.*)$/s.exec(this.#name) ?? []
    return `${quoted(schema)}.${quoted(name)}`
  }
}
