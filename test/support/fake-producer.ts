import type { NewRecord, SendResult } from '../../src/broker/broker.ts'

/** Acknowledges offsets immediately, and batches when the test calls `acknowledge`, or immediately as well. */
export class FakeProducer {
  readonly log: string[] = []
  closed = false
  offsetsFail = false
  offsetsHang = false
  batchesFail = false
  /** A commit waits for it. */
  committing: Promise<void> = Promise.resolve()
  readonly #isSlow: boolean
  readonly #batches: PromiseWithResolvers<SendResult>[] = []
  readonly #refusals: (((index: number, error: Error) => void) | undefined)[] = []

  constructor(isSlow: boolean) {
    this.#isSlow = isSlow
  }

  async send(records: readonly NewRecord[], refused?: (index: number, error: Error) => void): Promise<SendResult> {
    const sent = { partitions: new Int32Array(), offsets: new Float64Array() }
    if (records[0]?.topic === 'offsets') {
      if (this.offsetsFail) throw new Error('refused')
      if (this.offsetsHang) return new Promise(() => undefined)
      for (const { value } of records) this.log.push(`offset ${JSON.parse(String(value)).position}`)
      return sent
    }
    if (this.batchesFail) throw new Error('refused')
    this.log.push('batch')
    if (!this.#isSlow) return sent
    const batch = Promise.withResolvers<SendResult>()
    this.#refusals.push(refused)
    this.#batches.push(batch)
    return batch.promise
  }

  sendSourceOffsets(records: readonly NewRecord[]): Promise<SendResult> {
    return this.send(records)
  }

  acknowledge(index: number): void {
    this.#batches[index]?.resolve({ partitions: new Int32Array(), offsets: new Float64Array() })
  }

  refuseRecord(index: number, record: number, error: Error): void {
    this.#refusals[index]?.(record, error)
  }

  refuse(index: number, error: Error): void {
    this.#batches[index]?.reject(error)
  }

  begin(): void {
    this.log.push('begin')
  }

  async addPartitions(): Promise<void> {}

  async commit(): Promise<void> {
    await this.committing
    this.log.push('commit')
  }

  async abort(): Promise<void> {
    this.log.push('abort')
  }

  async close(): Promise<void> {
    this.closed = true
  }

  offsets(): readonly number[] {
    return this.log.filter((line) => line.startsWith('offset ')).map((line) => Number(line.slice(7)))
  }
}
