import { describe, expect, it } from 'vitest'
import { advance, atLeastOnce, COMMIT_TIMEOUT_MS, deliver, exactlyOnce } from '../../support/delivery.ts'
import { FakeClock } from '../../support/fake-clock.ts'

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

  it.each([
    ['with its content if that is logged', { listens: false, logsContent: true }, 'v'],
    ['with its content if the source has a listener', { listens: true, logsContent: false }, 'v'],
    ['without its content otherwise', { listens: false, logsContent: false }, undefined],
  ])('keeps a record until it is stored %s', async (_, given, value) => {
    const { producer, delivery, rejected, written } = atLeastOnce(given)
    await deliver(delivery, 1)
    producer.refuseRecord(0, 0, new Error('too large'))
    producer.acknowledge(0)
    await new FakeClock().advance(0)
    expect(rejected).toMatchObject([
      { record: { topic: 't', sourcePartition: {}, sourceOffset: { position: 1 } }, converted: { topic: 't' } },
    ])
    expect(rejected[0]?.record.value).toBe(value)
    written.resolve()
    await delivery.close()
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
