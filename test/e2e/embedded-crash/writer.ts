import type { BrokerBackend } from '../../../src/broker/broker-backend.ts'
import { openEmbeddedBackend } from '../../../src/broker/embedded/embedded-backend.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { batchOf } from '../../broker/embedded/batch.ts'

/**
 * The process that is killed. It writes as fast as it can and says on standard output what was acknowledged, a line
 * each, after the acknowledgement: `plain N` (record N of topic plain is stored) and `move N` (transaction N is
 * committed: record N in topics left and right, and offset N+1 of group mover).
 */
const [directory, round] = process.argv.slice(2)
const home = await openEmbeddedBackend(directory!, { logger: silentLogger() })
const configs = { 'retention.ms': '-1' }
for (const name of ['plain', 'left', 'right']) await home.createTopic({ name, configs })
await Promise.all([writePlain(home, Number(round)), move(home, Number(round))])

async function writePlain(log: BrokerBackend, from: number): Promise<never> {
  const { producerId, epoch } = await log.initProducer({})
  for (let sequence = 0; ; sequence += 3) {
    const numbers = [0, 1, 2].map((index) => `${from}.${sequence + index}`)
    const bytes = batchOf(numbers, { producerId, epoch, sequence })
    await produce(log, 'plain', bytes)
    process.stdout.write(numbers.map((number) => `plain ${number}\n`).join(''))
  }
}

async function move(log: BrokerBackend, from: number): Promise<never> {
  const transactionalId = 'mover'
  let producer = { ...(await log.initProducer({ transactionalId })), transactionalId }
  for (let sequence = 0; ; sequence += 1) {
    const topics = ['left', 'right']
    await log.addPartitionsToTransaction({ ...producer, partitions: topics.map((topic) => ({ topic, partition: 0 })) })
    const number = from * 1_000_000 + sequence
    for (const topic of topics) {
      const bytes = batchOf([String(number)], { ...producer, sequence: 0, transactional: true })
      await produce(log, topic, bytes, transactionalId)
    }
    const offsets = [{ topic: 'plain', partition: 0, offset: number + 1 }]
    await log.commitOffsetsInTransaction({ ...producer, groupId: 'mover', offsets })
    const commit = sequence % 5 !== 4
    producer = { ...(await log.endTransaction({ ...producer, commit })), transactionalId }
    if (commit) process.stdout.write(`move ${number}\n`)
  }
}

async function produce(log: BrokerBackend, topic: string, bytes: Uint8Array, transactionalId?: string): Promise<void> {
  const transaction = transactionalId === undefined ? {} : { transactionalId }
  const batches = [{ topic, partition: 0, bytes }]
  const [result] = await log.produce({ node: 0, timeoutMs: 1000, batches, ...transaction })
  if (result?.error !== undefined) throw new Error(result.error.message)
}
