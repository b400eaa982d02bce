import { describe, expect, it } from 'vitest'
import { countRetained } from '../../support/collect-garbage.ts'
import { advance, deliver, exactlyOnce, independentExactlyOnce } from '../../support/delivery.ts'
import { FakeClock } from '../../support/fake-clock.ts'

describe('ExactlyOnceDelivery', () => {
  it('keeps no converted records of an open transaction for sources with and without a listener', {
    tags: ['slow'],
  }, async () => {
    // One collection of the garbage of all files before takes as long as all other tests here.
    const deliveries = [true, false].map((listens) => exactlyOnce('interval', false, listens).delivery)
    const deliverValue = (value: Uint8Array, at: number) =>
      deliver(deliveries[at % 2]!, Math.floor(at / 2) + 1, { value })
    expect(await countRetained(6, () => new Uint8Array(10), deliverValue)).toBe(0)
    for (const delivery of deliveries) await delivery.close()
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

  it('accepts batches of a source without a listener during a commit, up to a limit, and sends them after it', async () => {
    const { producer, delivery } = independentExactlyOnce()
    await deliver(delivery, 1)
    const gate = Promise.withResolvers<void>()
    producer.committing = gate.promise
    const committing = delivery.commit()
    await deliver(delivery, 2)
    const waiting = deliver(delivery, 3, { count: 10_000 })
    await expect(Promise.race([waiting, new FakeClock().advance(0).then(() => 'waits')])).resolves.toBe('waits')
    expect(producer.log).toEqual(['begin', 'batch', 'offset 1'])
    gate.resolve()
    await Promise.all([committing, waiting])
    await delivery.close()
    expect(producer.log.slice(3)).toEqual(['commit', 'begin', 'batch', 'batch', 'offset 3', 'commit'])
  })

  it('fails the next batch of a source without a listener after a failed commit', async () => {
    const { producer, delivery, failures } = independentExactlyOnce()
    await deliver(delivery, 1)
    producer.committing = Promise.reject(new Error('fenced'))
    await delivery.commit()
    expect(failures()).toBe(1)
    await expect(deliver(delivery, 2)).rejects.toThrow('fenced')
    await expect(delivery.close()).rejects.toThrow('fenced')
    expect(producer.log).not.toContain('commit')
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
