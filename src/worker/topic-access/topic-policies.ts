import { isDeepStrictEqual } from 'node:util'
import { trimAsJava } from '../../common/trim-as-java.ts'
import type { ConnectorRules } from '../../http/permissions.ts'
import { matchesWildcard } from '../../regex/wildcard.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { WorkerSettings } from '../settings.ts'
import { ownOffsetsTopic } from '../stores/offset-store.ts'
import { TopicAccess } from './topic-access.ts'
import { KAFKA_TOPICS, sinkGroupOf, type TopicAccessPolicy } from './topic-access-policy.ts'

/** Topics and groups that the other programs of this process use. */
export type ProgramTopics = { readonly topics: readonly string[]; readonly groups: readonly string[] }

export const NO_PROGRAM_TOPICS: ProgramTopics = { topics: [], groups: [] }

/** What a connector configures that concerns others. */
type Claims = { readonly offsetsTopic: string | undefined; readonly group: string | undefined }

/** The topic policy of a worker: it follows the connectors and the permissions file. */
export class TopicPolicies {
  readonly #claims = new Map<string, Claims>()
  readonly #listeners = new Set<(policy: TopicAccessPolicy) => void>()
  #current: TopicAccessPolicy

  constructor({ values }: Pick<WorkerSettings, 'values'>, others: ProgramTopics, rules: ConnectorRules) {
    this.#current = {
      ownTopics: [
        ...KAFKA_TOPICS,
        values['config.storage.topic'],
        values['offset.storage.topic'],
        values['status.storage.topic'],
        ...others.topics,
        ...values['connector.topics.denied'],
      ],
      ownGroups: [values['group.id'], ...others.groups, ...values['connector.groups.denied'], ...REPLAY_GROUPS],
      workerOffsetsTopic: values['offset.storage.topic'],
      offsetsTopics: [],
      takenGroups: [],
      rules,
    }
  }

  readonly current = (): TopicAccessPolicy => this.#current

  /** Whether a program of this installation uses the topic for itself. */
  isProgramTopic(topic: string): boolean {
    const { ownTopics, offsetsTopics } = this.#current
    return offsetsTopics.includes(topic) || ownTopics.some((pattern) => matchesWildcard(pattern, topic))
  }

  accessOf(connector: string): TopicAccess {
    return new TopicAccess(connector, this.current)
  }

  /** The access of a connector as it would be with this configuration, which is not stored yet. */
  accessWith(connector: string, config: RawConfig): TopicAccess {
    const policy = { ...this.#current, ...this.#claimedBy(new Map(this.#claims).set(connector, claimsOf(config))) }
    return new TopicAccess(connector, () => policy)
  }

  /** The listener is called with each further policy. Returns a function that ends this. */
  onChange(listener: (policy: TopicAccessPolicy) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  setRules(rules: ConnectorRules): void {
    this.#change({ rules })
  }

  /** Follows the configuration of a connector; undefined: it was deleted. */
  setConnector(connector: string, config: RawConfig | undefined): void {
    const claims = config && claimsOf(config)
    const known = this.#claims.get(connector)
    if (known !== undefined && isDeepStrictEqual(known, claims)) return
    if (claims === undefined) this.#claims.delete(connector)
    else this.#claims.set(connector, claims)
    this.#change(this.#claimedBy(this.#claims))
  }

  #claimedBy(claims: ReadonlyMap<string, Claims>): Pick<TopicAccessPolicy, 'offsetsTopics' | 'takenGroups'> {
    const offsetsTopics = [...claims.values()].flatMap(({ offsetsTopic }) => offsetsTopic ?? [])
    return { offsetsTopics: [...new Set(offsetsTopics)], takenGroups: takenGroups(claims) }
  }

  #change(changed: Partial<TopicAccessPolicy>): void {
    const policy = { ...this.#current, ...changed }
    if (isDeepStrictEqual(policy, this.#current)) return
    this.#current = policy
    for (const listener of this.#listeners) listener(policy)
  }
}

/** Groups whose offsets say which dead letters were replayed (`src/dead-letters`). */
const REPLAY_GROUPS = ['weir-dlq-*', 'weir-replayed-*']

function claimsOf(config: RawConfig): Claims {
  const group = config['consumer.override.group.id']
  return { offsetsTopic: ownOffsetsTopic(config), group: group === undefined ? undefined : trimAsJava(group) }
}

function takenGroups(claims: ReadonlyMap<string, Claims>): readonly string[] {
  return [...claims].flatMap(([connector, { group }]) => {
    if (group === undefined || !group.startsWith(GROUP_PREFIX) || group === sinkGroupOf(connector)) return []
    return claims.has(group.slice(GROUP_PREFIX.length)) ? [group] : []
  })
}

const GROUP_PREFIX = sinkGroupOf('')
