import type { Session } from '../session.ts'
import type { ColumnValues } from './column-values.ts'

/** A statement and its parameters. `operation` completes "could not …" in error messages. */
export type EncodedWrite = {
  readonly operation: string
  readonly text: string
  readonly values: readonly ColumnValues[]
}

/**
 * The statements of a batch. They are sent without waiting for each other, so that the server never waits for the next one
 * while this thread converts other records: the session is a pipeline. After a failed statement of a transaction, the server
 * rejects those behind it, and its `COMMIT` rolls back.
 */
export class SentStatements {
  readonly session: Session
  readonly #running: Promise<unknown>[] = []

  constructor(session: Session) {
    this.session = session
  }

  begin(): void {
    void this.track(this.session.query('begin a transaction', 'BEGIN'))
  }

  add({ operation, text, values }: EncodedWrite): void {
    void this.track(this.session.execute(operation, text, values))
  }

  commit(): void {
    void this.track(this.session.query('commit a transaction', 'COMMIT'))
  }

  /** Makes `settled` wait for a query. Returns the promise of its result. */
  track<Result>(running: Promise<Result>): Promise<Result> {
    running.catch(() => undefined)
    this.#running.push(running)
    return running
  }

  /** Waits for all statements and throws the error of the first one that failed: those of the others follow from it. */
  async settled(): Promise<void> {
    const results = await Promise.allSettled(this.#running)
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
}
