import type { NewRecord } from '../../src/broker/broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { SourceRecord, StoredListener } from '../../src/sdk/index.ts'
import type { TransactionBoundary } from '../../src/worker/configuration/task-config.ts'
import { lastOffsets } from '../../src/worker/tasks/acknowledged-prefix.ts'
import { AtLeastOnceDelivery } from '../../src/worker/tasks/at-least-once-delivery.ts'
import { ExactlyOnceDelivery } from '../../src/worker/tasks/exactly-once-delivery.ts'
import type { FailedSourceRecord } from '../../src/worker/tasks/process-source-records.ts'
import type { SourceDelivery, TransactionEnd } from '../../src/worker/tasks/source-delivery.ts'
import { SourceOffsets } from '../../src/worker/tasks/source-offsets.ts'
import { countersIn } from '../../src/worker/tasks/task-counters.ts'
import type { GuardedProducer } from '../../src/worker/topic-access/guarded-broker.ts'
import { FakeClock } from './fake-clock.ts'
import { FakeProducer } from './fake-producer.ts'

export const COMMIT_TIMEOUT_MS = 5_000

type Given = {
  readonly count?: number
  readonly bytes?: number
  readonly value?: Uint8Array
  readonly end?: TransactionEnd
}

export function deliver(
  delivery: SourceDelivery,
  position: number,
  { count = 1, bytes = count, value = Buffer.from('v'), end }: Given = {},
): Promise<void> {
  const records = Array.from({ length: count }, (): NewRecord => ({ topic: 't', key: null, value }))
  const record: SourceRecord = { topic: 't', value: 'v', sourcePartition: {}, sourceOffset: { position } }
  const sources = Array<SourceRecord>(count).fill(record)
  return delivery.deliver({ records, sources, bytes }, { records: sources, progress: lastOffsets(sources), end })
}

/** Delivers an offset that the source set without records. */
export function advance(delivery: SourceDelivery, position: number): Promise<void> {
  const progress = [{ partition: {}, offset: { position } }]
  return delivery.deliver({ records: [], sources: [], bytes: 0 }, { records: [], progress, end: undefined })
}

export function atLeastOnce({ listens = true, logsContent = false } = {}) {
  const counters = countersIn()
  const producer = new FakeProducer(true)
  const { onFailure, failures } = failureCount()
  const own = parts(producer, counters)
  const written = Promise.withResolvers<void>()
  const rejected: FailedSourceRecord[] = []
  const skipRejected = (records: readonly FailedSourceRecord[]) => {
    rejected.push(...records)
    return written.promise
  }
  const { notified, committed, listeners } = listening()
  const delivery = new AtLeastOnceDelivery({
    ...own,
    commitTimeoutMs: COMMIT_TIMEOUT_MS,
    onFailure,
    skipRejected,
    logsContent,
    ...(listens && { listeners }),
  })
  return { notified, committed, rejected, written, producer, delivery, failures, counters, clock: own.clock }
}

export function exactlyOnce(boundary: TransactionBoundary, isSlow = false, listens = true) {
  const producer = new FakeProducer(isSlow)
  const { onFailure, failures } = failureCount()
  const { notified, positions, committed, listeners } = listening()
  const own = listens ? { listeners } : {}
  const delivery = new ExactlyOnceDelivery({ ...parts(producer, countersIn()), boundary, onFailure, ...own })
  return { notified, positions, committed, producer, delivery, failures }
}

/** With `transaction.boundary=interval`, for a source without a listener. */
export function independentExactlyOnce() {
  const producer = new FakeProducer(false)
  const { onFailure, failures } = failureCount()
  const listeners = () => ({ isIndependent: true })
  const own = { ...parts(producer, countersIn()), boundary: 'interval', listeners, onFailure } as const
  return { producer, delivery: new ExactlyOnceDelivery(own), failures }
}

function parts(producer: FakeProducer, counters: ReturnType<typeof countersIn>) {
  return {
    producer: producer as unknown as GuardedProducer,
    counters,
    clock: new FakeClock(),
    log: silentLogger(),
    signal: new AbortController().signal,
    offsets: new SourceOffsets({ connector: 'c', config: {}, offsets: [], worker: { offsetsTopic: 'offsets' } }),
  }
}

/** Records the offset and the positions of each batch of which the source is notified. */
function listening() {
  const notified: unknown[] = []
  const positions: unknown[] = []
  const onStored: StoredListener = (batch, positionsOf) => {
    notified.push(batch.at(-1)?.sourceOffset['position'])
    positions.push(positionsOf())
  }
  const committed: unknown[] = []
  const onCommitted = (progress: readonly unknown[]) => void committed.push(progress)
  return { notified, positions, committed, listeners: () => ({ onStored, onCommitted }) }
}

function failureCount() {
  let count = 0
  return { onFailure: () => void count++, failures: () => count }
}
