import { expect, it, onTestFinished } from 'vitest'
import type { Broker, Consumer, Generation, PartitionRecords } from '../../src/broker/broker.ts'
import { BrokerError } from '../../src/broker/broker-error.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { startKafka } from '../env/kafka.ts'
import { describeOn, real } from '../env/real.ts'
import { bytes } from './broker-support.ts'

const A_WHILE = 1_000
const A_SEND = 50
const SENDS_UNDER_WAY = 20
const TOPIC = 'numbers'
const WAIT = { timeout: 120_000, interval: 50 }

// Only determines whether Kafka is available. The test starts a separate broker, which it kills.
const kafka = await real('kafka')

describeOn([kafka], 'a kill and restart of Kafka', () => {
  it('neither loses, duplicates nor reorders records, and groups recover', async () => {
    const own = await startKafka()
    onTestFinished(() => own.stop())
    const broker = await open(own.bootstrap)
    await broker.topics.create({ name: TOPIC, partitions: 1 })
    const consumer = await broker.consumer({ groupId: 'readers', topics: [TOPIC], sessionTimeoutMs: 6_000 })
    const generations: Generation[] = []
    const member = await broker.joinGroup({
      groupId: 'election',
      protocolType: 'election',
      sessionTimeoutMs: 6_000,
      heartbeatMs: 500,
      protocol: {
        protocols: () => [{ name: 'v0', metadata: bytes('') }],
        assign: (_, members) => new Map(members.map(({ memberId }) => [memberId, bytes('all')])),
        onJoined: (generation) => void generations.push(generation),
      },
    })
    const read = followWithReader(broker)
    const consumed = followWithGroup(consumer)
    const writing = write(broker)
    await expect.poll(() => consumed.next, WAIT).toBeGreaterThan(A_WHILE)
    await own.kill()
    const killedAt = Math.max(read.next, consumed.next)
    await own.restart()
    await expect.poll(() => consumed.next, WAIT).toBeGreaterThan(killedAt + A_WHILE)
    const total = await writing.stop()
    await expect.poll(() => [read.next, consumed.next], WAIT).toEqual([total, total])
    await Promise.all([read.stop(), consumed.stop()])
    expect(read.surprises).toEqual([])
    // Uncommitted records may be delivered twice, but none is lost.
    expect(consumed.surprises.filter(({ expected, got }) => got > expected)).toEqual([])
    await expect.poll(() => member.validUntilMs(), WAIT).toBeGreaterThan(performance.now())
    expect(generations.at(-1)?.leaderId).toBe(member.memberId)
  })
})

async function open(bootstrap: string): Promise<Broker> {
  const config = { 'bootstrap.servers': bootstrap }
  const broker = await openBroker({ kind: 'kafka', config }, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  return broker
}

/** Writes continuously with overlapping sends, as a source does. `stop` resolves with the number of records stored. */
function write(broker: Broker): { stop(): Promise<number> } {
  let stopped = false
  const running = run()
  return {
    stop: () => {
      stopped = true
      return running
    },
  }

  async function run(): Promise<number> {
    const producer = await broker.producer()
    const sending: Promise<unknown>[] = []
    let count = 0
    while (!stopped) {
      const numbers = Array.from({ length: A_SEND }, (_, at) => count + at)
      sending.push(producer.send(numbers.map((number) => ({ topic: TOPIC, key: null, value: bytes(String(number)) }))))
      count += A_SEND
      if (sending.length >= SENDS_UNDER_WAY) await sending.shift()
    }
    await Promise.all(sending)
    return count
  }
}

type Surprise = { readonly expected: number; readonly got: number }

/** Checks that polled numbers are consecutive. `next` is the expected number; deviations are added to `surprises`. */
function follow(poll: () => Promise<readonly PartitionRecords[]>) {
  const surprises: Surprise[] = []
  let stopped = false
  const followed = { next: 0, surprises, stop }
  const running = run()
  return followed

  async function run(): Promise<void> {
    while (!stopped) {
      for (const { value } of (await poll()).flatMap(({ records }) => records)) {
        const got = Number(value)
        if (got !== followed.next) surprises.push({ expected: followed.next, got })
        followed.next = got + 1
      }
    }
  }

  function stop(): Promise<void> {
    stopped = true
    return running
  }
}

function followWithReader(broker: Broker) {
  const reader = broker.reader()
  reader.seek([{ topic: TOPIC, partition: 0, offset: 0 }])
  return follow(() => reader.poll(100))
}

function followWithGroup(consumer: Consumer) {
  return follow(async () => {
    const polled = await consumer.poll(100)
    const offsets = polled.map(({ topic, partition, nextOffset }) => ({ topic, partition, offset: nextOffset }))
    await consumer.commit(offsets).catch((error: unknown) => {
      if (!(error instanceof BrokerError)) throw error
    })
    return polled
  })
}
