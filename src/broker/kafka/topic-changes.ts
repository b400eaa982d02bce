import type { Logger } from '../../common/logging/logger.ts'
import type { NewTopic } from '../broker.ts'
import type { BackendRequest } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import * as admin from './admin-apis.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import {
  INVALID_REPLICATION_FACTOR,
  LEADER_NOT_AVAILABLE,
  TOPIC_ALREADY_EXISTS,
  UNKNOWN_TOPIC_OR_PARTITION,
} from './kafka-error.ts'
import { type ClusterMetadata, metadataApi } from './produce-fetch-apis.ts'

/**
 * Topic changes that return when every node has applied them. The controller responds earlier: the metadata of other
 * nodes follows a moment later.
 */

/** The changes take effect after a few milliseconds, so these pauses are short, whatever `retry.backoff.ms` is. */
const BACKOFF = { firstMs: 10, maxMs: 500 }
/** No setting names it: a topic that still exists after this time was recreated by someone else. */
const DELETION_MS_MAX = 10_000

/** Also waits for an existing topic: another process may have created it just now. */
export async function createTopic(cluster: KafkaCluster, topic: NewTopic, logger: Logger): Promise<boolean> {
  const { errorNumber, error } = await cluster.onController(admin.createTopicsApi, {
    ...(await sized(cluster, topic)),
    timeoutMs: cluster.config.requestTimeoutMs,
  })
  const existed = errorNumber === TOPIC_ALREADY_EXISTS
  if (error && !existed) {
    const remedy = errorNumber === INVALID_REPLICATION_FACTOR ? ` ${fewerReplicas(topic)}` : ''
    throw BrokerError.of({ ...error, message: `${error.message}${remedy}` })
  }
  await waitUntilSeenEverywhere(cluster, topic.name, (seen) => hasLeaders(seen, 1))
  await warnOfFewReplicas(cluster, topic, logger)
  return !existed
}

function fewerReplicas({ replicationSetting = 'the replication factor' }: NewTopic): string {
  return `Set ${replicationSetting} to at most the number of brokers, or to -1 for the default of the brokers.`
}

/** Also about an existing topic, which may be older than the other brokers of its cluster. */
async function warnOfFewReplicas(cluster: KafkaCluster, topic: NewTopic, logger: Logger): Promise<void> {
  const { name, replicationFactorMax = 0, replicationSetting } = topic
  if (replicationFactorMax <= 1) return
  const { topics } = await cluster.metadata([name])
  const replicas = Math.min(...topics.flatMap(({ partitions }) => partitions.map((partition) => partition.replicas)))
  if (replicas >= replicationFactorMax) return
  logger.warn(
    { topic: name, replicas, expected: replicationFactorMax, setting: replicationSetting },
    'the topic has fewer replicas than configured, so that the loss of brokers can make it unavailable or lose records: ' +
      'add brokers and replicas, or lower the setting',
  )
}

async function sized(cluster: KafkaCluster, { replicationFactorMax, ...topic }: NewTopic): Promise<NewTopic> {
  if (replicationFactorMax === undefined) return topic
  const { nodes } = await cluster.metadata([])
  return { ...topic, replicationFactor: Math.min(replicationFactorMax, nodes.length) }
}

export async function addPartitions(cluster: KafkaCluster, request: BackendRequest<'addPartitions'>): Promise<void> {
  await cluster.onController(admin.createPartitionsApi, { ...request, timeoutMs: cluster.config.requestTimeoutMs })
  await waitUntilSeenEverywhere(cluster, request.topic, (seen) => hasLeaders(seen, request.total))
}

export async function deleteTopic(cluster: KafkaCluster, topic: string): Promise<void> {
  await cluster.onController(admin.deleteTopicsApi, { topic, timeoutMs: cluster.config.requestTimeoutMs })
  const isGone = (seen: SeenTopic) => seen.errorNumber !== 0 && seen.errorNumber !== LEADER_NOT_AVAILABLE
  await waitUntilSeenEverywhere(cluster, topic, isGone, DELETION_MS_MAX).catch((error: unknown) => {
    if (!(error instanceof BrokerError) || error.code !== NOT_SEEN) throw error
  })
}

type SeenTopic = ClusterMetadata['topics'][number]

const NOT_SEEN = 'not_leader'

async function waitUntilSeenEverywhere(
  cluster: KafkaCluster,
  topic: string,
  isApplied: (seen: SeenTopic) => boolean,
  withinMs = cluster.config.apiTimeoutMs,
): Promise<void> {
  await cluster.retryTransient(
    async () => {
      const { nodes, topics } = await cluster.metadata([topic])
      const seen = nodes.length === 1 ? topics : await seenBy(cluster, nodes, topic)
      if (seen.length > 0 && seen.every(isApplied)) return
      throw new BrokerError(NOT_SEEN, `topic '${topic}': not every node of the cluster has applied the change`)
    },
    undefined,
    { backoff: BACKOFF, withinMs },
  )
}

async function seenBy(
  cluster: KafkaCluster,
  nodes: ClusterMetadata['nodes'],
  topic: string,
): Promise<readonly SeenTopic[]> {
  const views = await Promise.allSettled(nodes.map(({ id }) => cluster.onNode(id, metadataApi, [topic])))
  // A node that cannot be reached cannot respond with outdated metadata either.
  return views.flatMap((view) => (view.status === 'fulfilled' ? view.value.topics : []))
}

/** A topic that is hidden from this client for lack of permission stays hidden. */
function hasLeaders({ errorNumber, partitions }: SeenTopic, count: number): boolean {
  if (errorNumber !== 0) return errorNumber !== UNKNOWN_TOPIC_OR_PARTITION && errorNumber !== LEADER_NOT_AVAILABLE
  return partitions.length >= count && partitions.every(({ leader }) => leader >= 0)
}
