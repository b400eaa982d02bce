import type { Broker } from '../../broker/broker.ts'
import { UserError } from '../../common/errors.ts'
import { type ReadToEndOptions, readToEnd } from '../../dead-letters/read-to-end.ts'
import { type BackedUpRecord, readTopicFile, TopicFileWriter, verifyTopicFile } from './topic-file.ts'

const BATCH_RECORDS = 1_000

/**
 * Writes all records of a topic up to its present end to a file. Resolves to their number. Waits for open transactions: without
 * their records and those after them, the backup would be incomplete.
 */
export async function backUpTopic(
  broker: Broker,
  topic: string,
  path: string,
  { stallMs }: Pick<ReadToEndOptions, 'stallMs'> = {},
): Promise<number> {
  const described = await broker.topics.describe(topic)
  if (described === undefined) throw new UserError('topic_not_found', `the topic ${topic} does not exist`)
  const { partitions, configs } = described
  const head = { topic, partitions: partitions.length, cleanupPolicy: configs['cleanup.policy'] ?? 'delete' }
  const writer = await TopicFileWriter.create(path)
  try {
    await writer.begin(head)
    const options = { end: 'read_uncommitted', ...(stallMs !== undefined && { stallMs }) } as const
    for await (const polled of readToEnd(broker, topic, [], options)) {
      for (const { partition, records } of polled)
        await writer.append(records.map((record) => ({ partition, ...record })))
    }
    return await writer.complete()
  } catch (error) {
    await writer.discard().catch(() => undefined)
    throw error
  }
}

/**
 * Writes the records of a backup to a topic, in their partitions and order. The topic is created if it does not exist, and must be
 * empty: records of two logs in one topic would be neither of them. Resolves to the number of records.
 */
export async function restoreTopic(broker: Broker, topic: string, path: string): Promise<number> {
  const { partitions, cleanupPolicy } = await verifyTopicFile(path)
  await requireEmptyTopic(broker, topic, { partitions, cleanupPolicy })
  const producer = await broker.producer()
  let batch: BackedUpRecord[] = []
  let count = 0
  const send = async () => {
    await producer.send(batch.map((record) => ({ topic, ...record })))
    count += batch.length
    batch = []
  }
  try {
    for await (const item of readTopicFile(path)) {
      if ('partitions' in item) continue
      batch.push(item)
      if (batch.length === BATCH_RECORDS) await send()
    }
    await send()
  } finally {
    await producer.close()
  }
  return count
}

async function requireEmptyTopic(
  broker: Broker,
  topic: string,
  { partitions, cleanupPolicy }: { readonly partitions: number; readonly cleanupPolicy: string },
): Promise<void> {
  const configs = { 'cleanup.policy': cleanupPolicy }
  if (await broker.topics.create({ name: topic, partitions, replicationFactorMax: 3, configs })) return
  const found = (await broker.topics.describe(topic))?.partitions.length
  if (found !== partitions)
    throw new UserError('topic_not_empty', `the topic ${topic} has ${found} partitions, expected ${partitions}`)
  const ends = await broker.topics.offsets(topic, 'latest')
  if (ends.some(({ offset }) => offset > 0)) {
    throw new UserError(
      'topic_not_empty',
      `the topic ${topic} has, or had, records: restore to another topic, or delete it first`,
    )
  }
}
