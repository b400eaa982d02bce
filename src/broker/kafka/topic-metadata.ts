import type { BackendRequest, TopicMetadata } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import type { KafkaCluster } from './kafka-cluster.ts'

/** The topics that exist. Rejects with `not_authorized` if a requested one is hidden from this client. */
export async function topicMetadata(
  cluster: Pick<KafkaCluster, 'metadata'>,
  { topics }: BackendRequest<'metadata'>,
): Promise<readonly TopicMetadata[]> {
  const found = await cluster.metadata(topics)
  const hidden = found.topics.find(({ error }) => error?.code === 'not_authorized')
  if (hidden?.error) throw BrokerError.of(hidden.error)
  return found.topics
    .filter(({ errorNumber }) => errorNumber === 0)
    .map(({ errorNumber: _, error: __, ...topic }) => topic)
}
