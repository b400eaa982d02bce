import { expect, it, onTestFinished } from 'vitest'
import type { BrokerBackend } from '../../src/broker/broker-backend.ts'
import { BrokerError, isTransient } from '../../src/broker/broker-error.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/embedded-backend.ts'
import { openKafkaBackend } from '../../src/broker/kafka/kafka-backend.ts'
import { encodeBatch } from '../../src/broker/record-batch/record-batch.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { describeOn, real } from '../env/real.ts'
import { until } from '../support/until.ts'
import { uniqueName } from './broker-support.ts'

const kafka = await real('kafka')
const logger = silentLogger()

/** KIP-890. A request may arrive late when its client gave up its connection, and repeated it on another one. */
describeOn([kafka], 'a request to end a transaction that arrives late', () => {
  it.each<[broker: string, open: () => Promise<BrokerBackend>]>([
    ['Kafka', () => openKafkaBackend({ 'bootstrap.servers': kafka.address.bootstrap }, { logger })],
    ['the embedded broker', () => openEmbeddedBackend(':memory:', { logger })],
  ])('does not end the next one: %s', async (_, open) => {
    const backend = await open()
    onTestFinished(() => backend.close())
    const place = { topic: uniqueName('topic'), partition: 0 }
    await backend.createTopic({ name: place.topic, partitions: 1 })
    const transactionalId = uniqueName('txn')
    const first = { ...(await backend.initProducer({ transactionalId })), transactionalId }
    await backend.addPartitionsToTransaction({ ...first, partitions: [place] })
    await write(backend, place, first)
    const next = { ...(await backend.endTransaction({ ...first, commit: true })), transactionalId }
    // The response may have been lost.
    expect(await backend.endTransaction({ ...first, commit: true })).toMatchObject({ epoch: first.epoch + 1 })
    await backend.addPartitionsToTransaction({ ...next, partitions: [place] })
    await write(backend, place, next)
    await expect(backend.endTransaction({ ...first, commit: true })).rejects.toMatchObject({ code: 'fenced' })
    await backend.endTransaction({ ...next, commit: false })
  })
})

async function write(
  backend: BrokerBackend,
  place: { readonly topic: string; readonly partition: number },
  producer: { readonly producerId: bigint; readonly epoch: number; readonly transactionalId: string },
): Promise<void> {
  const { producerId, epoch, transactionalId } = producer
  const record = { key: null, value: Buffer.from('a'), headers: [] }
  const bytes = await encodeBatch([record], {
    nowMs: Date.now(),
    producer: { producerId, epoch, baseSequence: 0 },
    transactional: true,
  })
  // A node becomes the leader of a new partition a moment after it is announced.
  await until('the record to be stored', { everyMs: 50, timeoutMs: 120_000 }, async () => {
    const [topic] = await backend.metadata({ topics: [place.topic] })
    const node = topic!.partitions[0]!.leader
    const [result] = await backend.produce({ node, batches: [{ ...place, bytes }], timeoutMs: 5_000, transactionalId })
    if (result?.error === undefined) return true
    const error = BrokerError.of(result.error)
    if (!isTransient(error)) throw error
    return false
  })
}
