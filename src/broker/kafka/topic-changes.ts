import type { BackendRequest } from '../backend.ts'
import type { NewTopic } from '../broker.ts'
import { BrokerError } from '../error.ts'
import * as admin from './admin-apis.ts'
import type { KafkaCluster } from './cluster.ts'
import { LEADER_NOT_AVAILABLE, TOPIC_ALREADY_EXISTS, throwOnError, UNKNOWN_TOPIC } from './error.ts'
import { type ClusterMetadata, metadataApi } from './log-apis.ts'

/**
 * Changes of topics that every node knows of when they return. The controller answers before: a node's own view of the
 * cluster follows it a moment later, and until then says that there is no such topic.
 */

const WAIT = { backoff: { firstMs: 10, maxMs: 500 }, withinMs: 30_000 }
/** Shorter: a topic that is still there after so long was made anew by somebody else. */
const DELETION_WAIT = { ...WAIT, withinMs: 10_000 }

/** Also waits for a topic that was there: another process may have made it just now. */
export async function createTopic(cluster: KafkaCluster, topic: NewTopic): Promise<boolean> {
  const { errorNumber, message } = await cluster.onController(admin.createTopicsApi, await sized(cluster, topic))
  const existed = errorNumber === TOPIC_ALREADY_EXISTS
  if (!existed) throwOnError(errorNumber, `creating topic '${topic.name}'`, message)
  await seenEverywhere(cluster, topic.name, (seen) => hasLeaders(seen, 1))
  return !existed
}

async function sized(cluster: KafkaCluster, { replicationFactorMax, ...topic }: NewTopic): Promise<NewTopic> {
  if (replicationFactorMax === undefined) return topic
  const { nodes } = await cluster.metadata([])
  return { ...topic, replicationFactor: Math.min(replicationFactorMax, nodes.length) }
}

export async function addPartitions(cluster: KafkaCluster, request: BackendRequest<'addPartitions'>): Promise<void> {
  await cluster.onController(admin.createPartitionsApi, request)
  await seenEverywhere(cluster, request.topic, (seen) => hasLeaders(seen, request.total))
}

export async function deleteTopic(cluster: KafkaCluster, topic: string): Promise<void> {
  await cluster.onController(admin.deleteTopicsApi, topic)
  const isGone = (seen: SeenTopic) => seen.errorNumber !== 0 && seen.errorNumber !== LEADER_NOT_AVAILABLE
  await seenEverywhere(cluster, topic, isGone, DELETION_WAIT).catch((error: unknown) => {
    if (!(error instanceof BrokerError) || error.code !== NOT_SEEN) throw error
  })
}

type SeenTopic = ClusterMetadata['topics'][number]

const NOT_SEEN = 'not_leader'

async function seenEverywhere(
  cluster: KafkaCluster,
  topic: string,
  isSo: (seen: SeenTopic) => boolean,
  patience = WAIT,
): Promise<void> {
  await cluster.retryTransient(
    async () => {
      // A node that can't be asked can't say the wrong thing either.
      const views = await Promise.allSettled(await cluster.onEveryNode(metadataApi, [topic]))
      const seen = views.flatMap((view) => (view.status === 'fulfilled' ? view.value.topics : []))
      if (seen.length > 0 && seen.every(isSo)) return
      throw new BrokerError(NOT_SEEN, `topic '${topic}': not every node of the cluster knows of the change yet`)
    },
    undefined,
    patience,
  )
}

/** A node that won't show the topic to this client, for lack of a right, will not later. */
function hasLeaders({ errorNumber, partitions }: SeenTopic, count: number): boolean {
  if (errorNumber !== 0) return errorNumber !== UNKNOWN_TOPIC && errorNumber !== LEADER_NOT_AVAILABLE
  return partitions.length >= count && partitions.every(({ leader }) => leader >= 0)
}
