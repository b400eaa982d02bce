import { describe, expect, it } from 'vitest'
import type { NewRecord, Producer } from '../../../src/broker/broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import type { SourceRecord, StoredListener } from '../../../src/sdk/index.ts'
import type { TransactionBoundary } from '../../../src/worker/configuration/task-config.ts'
import { lastOffsets } from '../../../src/worker/tasks/acknowledged-prefix.ts'
import { AtLeastOnceDelivery } from '../../../src/worker/tasks/at-least-once-delivery.ts'
import { ExactlyOnceDelivery } from '../../../src/worker/tasks/exactly-once-delivery.ts'
import type { FailedSourceRecord } from '../../../src/worker/tasks/process-source-records.ts'
import type { SourceDelivery, TransactionEnd } from '../../../src/worker/tasks/source-delivery.ts'
import { SourceOffsets } from '../../../src/worker/tasks/source-offsets.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import { countRetained } from '../../support/collect-garbage.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeProducer } from '../../support/fake-producer.ts'

const COMMIT_TIMEOUT_MS = 5_000

describe('AtLeastOnceDelivery', () => {
  it('sends batches without waiting, and commits offsets only up to the first unacknowledged batch', async () => {
    const { producer, delivery } = atLeastOnce()
    await deliver(delivery, 1)
    await deliver(delivery, 2)
    await deliver(delivery, 3)
    producer.acknowledge(1)
    await new FakeClock().advance(0)
    await delivery.commit()
    expect(producer.offsets()).toEqual([])
    producer.acknowledge(0)
    await new FakeClock().advance(0)
    await delivery.commit()
    expect(producer.offsets()).toEqual([2])
    producer.acknowledge(2)
    await delivery.close()
    expect(producer.offsets()).toEqual([2, 3])
    expect(producer.closed).toBe(true)
  })

  it('notifies the source of each stored batch, and of no other', async () => {
    const { producer, delivery, notified } = atLeastOnce()
    for (const position of [1, 2, 3]) await deliver(delivery, position)
    producer.acknowledge(1)
    await new FakeClock().advance(0)
    expect(notified).toEqual([2])
    producer.acknowledge(0)
    producer.refuse(2, new Error('too large'))
    await expect(delivery.close()).rejects.toThrow('too large')
    expect(notified).toEqual([2, 1])
  })

  it.each([
    ['at least once', () => atLeastOnce()],
    ['exactly once', () => exactlyOnce('interval')],
    ['exactly once for each poll', () => exactlyOnce('poll')],
  ])('notifies the source of each commit, also without new offsets, when it delivers %s', async (_, open) => {
    const { delivery, committed } = open()
    await delivery.commit()
    await delivery.commit()
    expect(committed).toEqual([[], []])
    await delivery.close()
  })

  it.each([
    ['records', { count: 10_000 }],
    ['bytes', { bytes: 4 * 1024 * 1024 }],
  ])('waits when too many %s are unacknowledged', async (_, given) => {
    const { producer, delivery } = atLeastOnce()
    let passed = false
    const waiting = deliver(delivery, 1, given).then(() => {
      passed = true
    })
    await new FakeClock().advance(0)
    expect(passed).toBe(false)
    producer.acknowledge(0)
    await waiting
  })

  it('does not retry offsets of a failed commit when newer offsets are ready', async () => {
    const { producer, delivery, clock } = atLeastOnce()
    await deliver(delivery, 7)
    producer.acknowledge(0)
    await clock.advance(0)
    producer.offsetsHang = true
    const committing = delivery.commit()
    await deliver(delivery, 8)
    producer.acknowledge(1)
    await clock.advance(COMMIT_TIMEOUT_MS)
    await committing
    producer.offsetsHang = false
    await delivery.close()
    expect(producer.offsets()).toEqual([8])
  })

  it('rejects the next batch and close with the failure, and commits no offset past it', async () => {
    const { producer, delivery, failures } = atLeastOnce()
    await deliver(delivery, 1)
    producer.refuse(0, new Error('too large'))
    await new FakeClock().advance(0)
    expect(failures()).toBe(1)
    await expect(deliver(delivery, 2)).rejects.toThrow('too large')
    producer.acknowledge(1)
    await expect(delivery.close()).rejects.toThrow('too large')
    expect(producer.offsets()).toEqual([])
  })

  it('skips a rejected record only after its dead letter is stored', async () => {
    const { producer, delivery, counters, rejected, written } = atLeastOnce()
    await deliver(delivery, 1, { count: 3 })
    producer.refuseRecord(0, 1, new Error('too large'))
    producer.acknowledge(0)
    await new FakeClock().advance(0)
    await delivery.commit()
    expect(producer.offsets()).toEqual([])
    expect(rejected).toMatchObject([{ stage: 'KAFKA_PRODUCE', record: { sourceOffset: { position: 1 } } }])
    written.resolve()
    await delivery.close()
    expect(producer.offsets()).toEqual([1])
    expect([counters.recordsOut, counters.bytesOut, counters.recordsActive]).toEqual([2, 2, 0])
  })

  it('commits no offset past a rejected record that may not be skipped', async () => {
    const { producer, delivery, failures, written } = atLeastOnce()
    await deliver(delivery, 1)
    producer.refuseRecord(0, 0, new Error('too large'))
    written.reject(new Error('Tolerance exceeded'))
    producer.acknowledge(0)
    await expect(delivery.close()).rejects.toThrow('Tolerance exceeded')
    expect(failures()).toBe(1)
    expect(producer.offsets()).toEqual([])
  })

  it('retries the offsets of a failed commit with the next commit', async () => {
    const { producer, delivery, counters } = atLeastOnce()
    await deliver(delivery, 7)
    producer.acknowledge(0)
    producer.offsetsFail = true
    await new FakeClock().advance(0)
    await delivery.commit()
    producer.offsetsFail = false
    await delivery.commit()
    expect(producer.offsets()).toEqual([7])
    expect([counters.commits, counters.commitFailures]).toEqual([1, 1])
  })

  it('commits an offset without records after the batches before it', async () => {
    const { producer, delivery } = atLeastOnce()
    await deliver(delivery, 7)
    await advance(delivery, 8)
    await delivery.commit()
    expect(producer.offsets()).toEqual([])
    producer.acknowledge(0)
    await new FakeClock().advance(0)
    await delivery.commit()
    expect(producer.offsets()).toEqual([8])
  })

  it('stops waiting for a commit after offset.flush.timeout.ms, and retries with the next commit', async () => {
    const { producer, delivery, counters, clock } = atLeastOnce()
    await deliver(delivery, 7)
    producer.acknowledge(0)
    await clock.advance(0)
    producer.offsetsHang = true
    const committing = delivery.commit()
    await clock.advance(COMMIT_TIMEOUT_MS)
    await committing
    producer.offsetsHang = false
    await delivery.close()
    expect(producer.offsets()).toEqual([7])
    expect([counters.commits, counters.commitFailures]).toEqual([1, 1])
  })
})

describe('ExactlyOnceDelivery', () => {
  it.each([
    ['without a listener', false],
    ['with a listener', true],
  ])('keeps no converted records of an open transaction for a source %s', async (_, listens) => {
    const { delivery } = exactlyOnce('interval', false, listens)
    const deliverValue = (value: Uint8Array, at: number) => deliver(delivery, at + 1, { value })
    expect(await countRetained(3, () => new Uint8Array(10), deliverValue)).toBe(0)
    await delivery.close()
  })

  it('commits each batch with its offsets as one transaction when transaction.boundary is poll', async () => {
    const { producer, delivery } = exactlyOnce('poll')
    await deliver(delivery, 1)
    await deliver(delivery, 2)
    await delivery.commit()
    await delivery.close()
    expect(producer.log).toEqual(['begin', 'batch', 'offset 1', 'commit', 'begin', 'batch', 'offset 2', 'commit'])
  })

  it('sends the batches of a transaction without waiting, up to a limit, and commits when all are stored', async () => {
    const { producer, delivery, notified } = exactlyOnce('interval', true)
    await deliver(delivery, 1)
    await deliver(delivery, 2)
    const committing = delivery.commit()
    producer.acknowledge(1)
    await new FakeClock().advance(0)
    expect(producer.log).toEqual(['begin', 'batch', 'batch', 'offset 2'])
    producer.acknowledge(0)
    await committing
    expect(producer.log.at(-1)).toBe('commit')
    expect(notified).toEqual([1, 2])
    const waiting = deliver(delivery, 3, { count: 10_000 })
    await expect(Promise.race([waiting, new FakeClock().advance(0).then(() => 'waits')])).resolves.toBe('waits')
    producer.acknowledge(2)
    await waiting
  })

  it('commits nothing when a batch before the last one fails', async () => {
    const { producer, delivery, failures } = exactlyOnce('interval', true)
    await deliver(delivery, 1)
    await deliver(delivery, 2)
    producer.acknowledge(1)
    producer.refuse(0, new Error('too large'))
    await delivery.commit()
    expect(failures()).toBe(1)
    await expect(deliver(delivery, 3)).rejects.toThrow('too large')
    await expect(delivery.close()).rejects.toThrow('too large')
    expect(producer.log).not.toContain('commit')
  })

  it('commits the batches of an interval as one transaction when transaction.boundary is interval', async () => {
    const { producer, delivery } = exactlyOnce('interval')
    await delivery.commit()
    await deliver(delivery, 1)
    await deliver(delivery, 2)
    await delivery.commit()
    await deliver(delivery, 3)
    await delivery.close()
    expect(producer.log).toEqual([
      'begin',
      'batch',
      'batch',
      'offset 2',
      'commit',
      'begin',
      'batch',
      'offset 3',
      'commit',
    ])
  })

  it('ends an interval with the delivery that runs, and otherwise at once and with the next one', async () => {
    const { producer, delivery, notified } = exactlyOnce('interval', true)
    const next = async (position: number, during?: () => Promise<void>) => {
      const delivering = deliver(delivery, position, { count: 10_000 })
      await new FakeClock().advance(0)
      await during?.()
      producer.acknowledge(position - 1)
      await delivering
    }
    await next(1, () => delivery.commit())
    expect(notified).toEqual([1])
    await next(2)
    await delivery.commit()
    expect(notified).toEqual([1, 2])
    await next(3)
    expect(notified).toEqual([1, 2, 3])
    await next(4)
    expect(notified).toEqual([1, 2, 3])
    await delivery.close()
    expect(notified).toEqual([1, 2, 3, 4])
  })

  it('commits at the boundaries that the source defines, and stores the offsets of aborted records', async () => {
    const { producer, delivery } = exactlyOnce('connector')
    await deliver(delivery, 1)
    await delivery.commit()
    await deliver(delivery, 2, { end: 'commit' })
    await deliver(delivery, 3)
    await deliver(delivery, 4, { end: 'abort' })
    await deliver(delivery, 5)
    await delivery.close()
    expect(producer.log).toEqual([
      ...['begin', 'batch', 'batch', 'offset 2', 'commit'],
      ...['begin', 'batch', 'batch', 'abort', 'begin', 'offset 4', 'commit'],
      ...['begin', 'batch'],
    ])
    expect(producer.closed).toBe(true)
  })

  it('commits an offset without records in a transaction', async () => {
    const { producer, delivery } = exactlyOnce('poll')
    await advance(delivery, 8)
    expect(producer.log).toEqual(['begin', 'batch', 'offset 8', 'commit'])
  })

  it('notifies the source of batches when their transaction has ended, without positions after an abort', async () => {
    const { delivery, notified, positions } = exactlyOnce('connector')
    await deliver(delivery, 1)
    expect(notified).toEqual([])
    await deliver(delivery, 2, { end: 'commit' })
    expect(notified).toEqual([1, 2])
    await deliver(delivery, 3)
    await deliver(delivery, 4, { end: 'abort' })
    await deliver(delivery, 5)
    await delivery.close()
    expect(notified).toEqual([1, 2, 3, 4])
    expect(positions.slice(2)).toEqual([[null], [null]])
  })

  it('commits nothing after a failure', async () => {
    const { producer, delivery, failures } = exactlyOnce('interval')
    await deliver(delivery, 1)
    producer.batchesFail = true
    await expect(deliver(delivery, 2)).rejects.toThrow('refused')
    expect(failures()).toBe(1)
    await delivery.commit()
    await expect(delivery.close()).rejects.toThrow('refused')
    expect(producer.log).not.toContain('commit')
    expect(producer.closed).toBe(true)
  })
})

type Given = {
  readonly count?: number
  readonly bytes?: number
  readonly value?: Uint8Array
  readonly end?: TransactionEnd
}

function deliver(
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
function advance(delivery: SourceDelivery, position: number): Promise<void> {
  const progress = [{ partition: {}, offset: { position } }]
  return delivery.deliver({ records: [], sources: [], bytes: 0 }, { records: [], progress, end: undefined })
}

function atLeastOnce() {
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
    listeners,
  })
  return { notified, committed, rejected, written, producer, delivery, failures, counters, clock: own.clock }
}

function exactlyOnce(boundary: TransactionBoundary, isSlow = false, listens = true) {
  const producer = new FakeProducer(isSlow)
  const { onFailure, failures } = failureCount()
  const { notified, positions, committed, listeners } = listening()
  const own = listens ? { listeners } : {}
  const delivery = new ExactlyOnceDelivery({ ...parts(producer, countersIn()), boundary, onFailure, ...own })
  return { notified, positions, committed, producer, delivery, failures }
}

function parts(producer: FakeProducer, counters: ReturnType<typeof countersIn>) {
  return {
    producer: producer as unknown as Producer,
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
