import type { Broker, NewTopic } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { UserError } from '../../common/errors.ts'
import { type ReadToEndOptions, readToEnd } from '../../dead-letters/read-to-end.ts'
import { type BackedUpRecord, readTopicFile, TopicFileWriter, type TopicHead, verifyTopicFile } from './topic-file.ts'

const BATCH_RECORDS = 1_000
const BATCH_BYTES = 8 * 1_048_576
/** The topic decides how large a record may be. */
const RECORD_BYTES_MAX = 2 ** 31 - 1

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
  const effective = await broker.topics.configs(topic)
  const head = {
    topic,
    partitions: described.partitions.length,
    cleanupPolicy: effective['cleanup.policy'] ?? 'delete',
    configs: await broker.topics.ownConfigs(topic),
  }
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
  await requireEmptyTopic(broker, topic, await verifyTopicFile(path))
  const producer = await broker.producer({ recordBytesMax: RECORD_BYTES_MAX })
  let batch: BackedUpRecord[] = []
  let bytes = 0
  let count = 0
  const send = async () => {
    await producer.send(batch.map((record) => ({ topic, ...record })))
    count += batch.length
    batch = []
    bytes = 0
  }
  try {
    for await (const item of readTopicFile(path)) {
      if ('partitions' in item) continue
      batch.push(item)
      bytes += (item.key?.length ?? 0) + (item.value?.length ?? 0)
      if (batch.length === BATCH_RECORDS || bytes >= BATCH_BYTES) await send()
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
  { partitions, cleanupPolicy, configs: backedUp = {} }: TopicHead,
): Promise<void> {
  const configs = { ...withoutReplication(backedUp), 'cleanup.policy': cleanupPolicy }
  const wanted = { name: topic, partitions, replicationFactorMax: 3, configs }
  const existing = await broker.topics.describe(topic)
  if (existing === undefined && (await createTopic(broker, wanted))) return
  const found = (existing ?? (await broker.topics.describe(topic)))?.partitions.length
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

/** Replicas and brokers are those of the cluster to restore to. */
const REPLICATION = /^(min\.insync\.replicas|(leader|follower)\.replication\..+|unclean\.leader\.election\.enable)$/

function withoutReplication(configs: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(configs).filter(([name]) => !REPLICATION.test(name)))
}

async function createTopic(broker: Broker, topic: NewTopic): Promise<boolean> {
  try {
    return await broker.topics.create(topic)
  } catch (error) {
    if (!(error instanceof BrokerError) || error.code !== 'invalid_config') throw error
    const remedy = `create the topic ${topic.name} with ${topic.partitions} partitions and the configuration that it should have, and restore to it`
    throw new BrokerError(error.code, `${error.message}: ${remedy}`, { cause: error })
  }
}
