import type { NewRecord } from '../../broker/broker.ts'
import { UserError } from '../../common/errors.ts'
import { Rights } from '../../http/permissions.ts'
import { matchesWildcard } from '../../regex/wildcard.ts'
import { sinkGroupOf, type TopicAccessPolicy } from './topic-access-policy.ts'

export type TopicOperation = 'read' | 'write'

/** Transformations can make any number of names from the content of records. */
const DECISIONS_MAX = 10_000

/**
 * Which topics and groups one connector may use. The policy may change at any time; decisions are kept as long as it does not. Names
 * are compared exactly, because Kafka distinguishes topics by case, dots and underscores.
 */
export class TopicAccess {
  readonly #connector: string
  readonly #policy: () => TopicAccessPolicy
  #decidedBy: TopicAccessPolicy
  /** By operation and topic; null: allowed. */
  readonly #decisions: Readonly<Record<TopicOperation, Map<string, string | null>>> = {
    read: new Map(),
    write: new Map(),
  }

  constructor(connector: string, policy: () => TopicAccessPolicy) {
    this.#connector = connector
    this.#policy = policy
    this.#decidedBy = policy()
  }

  /** Why the connector may not use a topic for records; undefined if it may. */
  problem(operation: TopicOperation, topic: string): string | undefined {
    const policy = this.#policy()
    const decisions = this.#decisions[operation]
    if (policy !== this.#decidedBy || decisions.size > DECISIONS_MAX) this.#forget(policy)
    const known = decisions.get(topic)
    if (known !== undefined) return known ?? undefined
    const reason = this.#ownTopicProblem(topic) ?? this.#grantProblem(operation, topic)
    const problem =
      reason === undefined ? undefined : this.#describe(`${VERBS[operation]} the topic '${topic}'`, reason)
    decisions.set(topic, problem ?? null)
    return problem
  }

  allows(operation: TopicOperation, topic: string): boolean {
    return this.problem(operation, topic) === undefined
  }

  /** Throws a `UserError` with the code `not_allowed`. */
  require(operation: TopicOperation, topic: string): void {
    rejectIf(this.problem(operation, topic))
  }

  /** Throws a `UserError` unless the connector may read or write the topic. */
  requireAny(topic: string): void {
    if (!this.allows('read', topic)) this.require('write', topic)
  }

  /** Throws a `UserError` for the first record whose topic may not be written. */
  requireWrites(records: readonly Pick<NewRecord, 'topic'>[]): void {
    let last: string | undefined
    for (const { topic } of records) {
      if (topic === last) continue
      this.require('write', topic)
      last = topic
    }
  }

  /** Why the connector may not store its source offsets in a topic; undefined if it may. Several connectors may share one. */
  offsetsTopicProblem(topic: string): string | undefined {
    const { workerOffsetsTopic, ownTopics } = this.#policy()
    if (topic === workerOffsetsTopic) return undefined
    const isOwn = ownTopics.some((pattern) => matchesWildcard(pattern, topic))
    const reason = isOwn ? PROGRAM_TOPIC : this.#grantProblem('write', topic)
    return reason && this.#describe(`store offsets in the topic '${topic}'`, reason)
  }

  /** Throws a `UserError`. */
  requireOffsetsTopic(topic: string): void {
    rejectIf(this.offsetsTopicProblem(topic))
  }

  /** Why the connector may not use a consumer group; undefined if it may. */
  groupProblem(group: string): string | undefined {
    const { ownGroups, takenGroups, rules } = this.#policy()
    const isDefault = group === sinkGroupOf(this.#connector)
    const reason = ownGroups.some((pattern) => matchesWildcard(pattern, group))
      ? 'a program of this installation uses it for itself'
      : isDefault
        ? undefined
        : takenGroups.includes(group)
          ? 'it is the group of another connector'
          : ungranted(Rights.forConnector('groups', this.#connector, rules)?.allows('read', group), 'read')
    return reason && this.#describe(`use the consumer group '${group}'`, reason)
  }

  /** Throws a `UserError`. */
  requireGroup(group: string): void {
    rejectIf(this.groupProblem(group))
  }

  #ownTopicProblem(topic: string): string | undefined {
    const { ownTopics, offsetsTopics } = this.#policy()
    if (ownTopics.some((pattern) => matchesWildcard(pattern, topic))) return PROGRAM_TOPIC
    return offsetsTopics.includes(topic) ? 'it stores the offsets of a connector (offsets.storage.topic)' : undefined
  }

  #grantProblem(operation: TopicOperation, topic: string): string | undefined {
    const rights = Rights.forConnector('topics', this.#connector, this.#policy().rules)
    return ungranted(rights?.allows(operation, topic), operation)
  }

  #describe(use: string, reason: string): string {
    return `the connector '${this.#connector}' may not ${use}: ${reason}`
  }

  #forget(policy: TopicAccessPolicy): void {
    this.#decidedBy = policy
    this.#decisions.read.clear()
    this.#decisions.write.clear()
  }
}

const VERBS: Readonly<Record<TopicOperation, string>> = { read: 'read', write: 'write to' }
const PROGRAM_TOPIC = 'a program of this installation uses it for itself'

function ungranted(isGranted: boolean | undefined, operation: TopicOperation): string | undefined {
  return isGranted === false ? `the permissions of the connector do not include '${operation}' on it` : undefined
}

function rejectIf(problem: string | undefined): void {
  if (problem !== undefined) throw new UserError('not_allowed', problem)
}
