import type { BackendRequest, TopicMetadata } from '../broker-backend.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { TOPIC_AUTHORIZATION_FAILED, throwOnError } from './kafka-error.ts'

/** The topics that exist and that this client may describe. */
export async function topicMetadata(
  cluster: Pick<KafkaCluster, 'metadata'>,
  { topics, requiresAccess = false }: BackendRequest<'metadata'>,
): Promise<readonly TopicMetadata[]> {
  const found = await cluster.metadata(topics)
  const hidden = found.topics.find(({ errorNumber }) => errorNumber === TOPIC_AUTHORIZATION_FAILED)
  if (requiresAccess && hidden !== undefined) throwOnError(hidden.errorNumber, `metadata of topic '${hidden.topic}'`)
  return found.topics.filter(({ errorNumber }) => errorNumber === 0).map(({ errorNumber: _, ...topic }) => topic)
}
