import type { Broker } from '../../src/broker/broker.ts'
import { GuardedBroker } from '../../src/worker/topic-access/guarded-broker.ts'
import { TopicAccess } from '../../src/worker/topic-access/topic-access.ts'
import type { TopicAccessPolicy } from '../../src/worker/topic-access/topic-access-policy.ts'

/** Allows all topics and groups. */
export const OPEN_POLICY: TopicAccessPolicy = {
  ownTopics: [],
  ownGroups: [],
  workerOffsetsTopic: 'offsets',
  offsetsTopics: [],
  takenGroups: [],
  rules: {},
}

export function topicAccess(policy: Partial<TopicAccessPolicy> = {}, connector = 'own'): TopicAccess {
  const complete = { ...OPEN_POLICY, ...policy }
  return new TopicAccess(connector, () => complete)
}

/** The broker as a connector of this policy uses it. */
export function guardedBroker(
  broker: Broker,
  policy: Partial<TopicAccessPolicy> = {},
  connector?: string,
): GuardedBroker {
  return new GuardedBroker(broker, topicAccess(policy, connector))
}

/** A policy that does not change. */
export const FIXED_TOPICS = { current: () => OPEN_POLICY, onChange: () => () => undefined }

/** The parts of a validation that allow all topics and groups. */
export const OPEN_VALIDATION = {
  topics: { accessWith: (connector: string) => topicAccess({}, connector) },
  isDataTopic: () => false,
}
