import type { ConnectorRules } from '../../http/permissions.ts'

/** What restricts the topics and consumer groups of all connectors: plain data, which the worker sends to its task processes. */
export type TopicAccessPolicy = {
  /** Topics that programs use for themselves. In these names and those of groups, `*` matches any text. */
  readonly ownTopics: readonly string[]
  /** Groups that programs use for themselves. */
  readonly ownGroups: readonly string[]
  /** The worker's own topic of source offsets, to which each source writes its offsets. */
  readonly workerOffsetsTopic: string
  /** Topics that connectors configure for their offsets (`offsets.storage.topic`). */
  readonly offsetsTopics: readonly string[]
  /** Groups that connectors configure (`consumer.override.group.id`) although they are those of other connectors. */
  readonly takenGroups: readonly string[]
  /** What the permissions file grants to connectors. */
  readonly rules: ConnectorRules
}

/** Topics of Kafka itself. They are denied although most brokers reject records for them: their content describes all clients. */
export const KAFKA_TOPICS: readonly string[] = [
  '__consumer_offsets',
  '__transaction_state',
  '__share_group_state',
  '__cluster_metadata',
]

/** A sink of this name is a member of this group unless it configures another one. */
export function sinkGroupOf(connector: string): string {
  return `connect-${connector}`
}
