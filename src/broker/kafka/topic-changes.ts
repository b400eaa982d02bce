import type { NewTopic } from '../broker.ts'
import type { BackendRequest } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import * as admin from './admin-apis.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { LEADER_NOT_AVAILABLE, TOPIC_ALREADY_EXISTS, throwOnError, UNKNOWN_TOPIC_OR_PARTITION } from './kafka-error.ts'
import { type ClusterMetadata, metadataApi } from './produce-fetch-apis.ts'

/**
 * Topic changes that return when every node has applied them. The controller responds earlier: the metadata of other
 * nodes follows a moment later.
 */

const WAIT = { backoff: { firstMs: 10, maxMs: 500 }, withinMs: 30_000 }
/** Shorter: a topic that still exists after this time was recreated by someone else. */
const DELETION_WAIT = { ...WAIT, withinMs: 10_000 }

/** Also waits for an existing topic: another process may have created it just now. */
export async function createTopic(cluster: KafkaCluster, topic: NewTopic): Promise<boolean> {
  const { errorNumber, message } = await cluster.onController(admin.createTopicsApi, await sized(cluster, topic))
  const existed = errorNumber === TOPIC_ALREADY_EXISTS
  if (!existed) throwOnError(errorNumber, `creating topic '${topic.name}'`, message)
  await waitUntilSeenEverywhere(cluster, topic.name, (seen) => hasLeaders(seen, 1))
  return !existed
}

async function sized(cluster: KafkaCluster, { replicationFactorMax, ...topic }: NewTopic): Promise<NewTopic> {
  if (replicationFactorMax === undefined) return topic
  const { nodes } = await cluster.metadata([])
  return { ...topic, replicationFactor: Math.min(replicationFactorMax, nodes.length) }
}

export async function addPartitions(cluster: KafkaCluster, request: BackendRequest<'addPartitions'>): Promise<void> {
  await cluster.onController(admin.createPartitionsApi, request)
  await waitUntilSeenEverywhere(cluster, request.topic, (seen) => hasLeaders(seen, request.total))
}

export async function deleteTopic(cluster: KafkaCluster, topic: string): Promise<void> {
  await cluster.onController(admin.deleteTopicsApi, topic)
  const isGone = (seen: SeenTopic) => seen.errorNumber !== 0 && seen.errorNumber !== LEADER_NOT_AVAILABLE
  await waitUntilSeenEverywhere(cluster, topic, isGone, DELETION_WAIT).catch((error: unknown) => {
    if (!(error instanceof BrokerError) || error.code !== NOT_SEEN) throw error
  })
}

type SeenTopic = ClusterMetadata['topics'][number]

const NOT_SEEN = 'not_leader'

async function waitUntilSeenEverywhere(
  cluster: KafkaCluster,
  topic: string,
  isApplied: (seen: SeenTopic) => boolean,
  limits = WAIT,
): Promise<void> {
  await cluster.retryTransient(
    async () => {
      const { nodes, topics } = await cluster.metadata([topic])
      const seen = nodes.length === 1 ? topics : await seenBy(cluster, nodes, topic)
      if (seen.length > 0 && seen.every(isApplied)) return
      throw new BrokerError(NOT_SEEN, `topic '${topic}': not every node of the cluster has applied the change`)
    },
    undefined,
    limits,
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
