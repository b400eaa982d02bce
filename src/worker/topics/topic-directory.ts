import type { Broker, TopicDescription } from '../../broker/broker.ts'
import { messageOf } from '../../common/errors.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'

/** A value, or why it is not known: often a right on the brokers that the worker lacks. */
export type Known<Value> =
  | { readonly value: Value; readonly problem?: never }
  | { readonly value?: never; readonly problem: string }

export type TopicRow = {
  readonly name: string
  /** A program of this installation, or Kafka, uses it for itself: its records are not shown. */
  readonly isInternal: boolean
  readonly partitions: number
  /** The lowest number of replicas of its partitions. */
  readonly replicas: number
  /** Bytes of one replica of each partition; null if they are not known. */
  readonly bytes: number | null
  readonly configs: Readonly<Record<string, string>> | null
}

export type TopicPage = {
  /** By name. */
  readonly topics: readonly TopicRow[]
  /** The number of topics that match, on all pages. */
  readonly total: number
  readonly sizesProblem: string | null
  readonly configsProblem: string | null
}

export type TopicListQuery = {
  readonly search: string
  readonly withInternal: boolean
  readonly offset: number
  readonly limit: number
}

export type TopicReport = Omit<TopicDescription, 'internal' | 'partitions'> & {
  readonly isInternal: boolean
  readonly partitions: readonly (TopicDescription['partitions'][number] & {
    readonly earliest: number | null
    readonly end: number | null
    readonly bytes: number | null
  })[]
  /** The number of partitions, of which only the first ones are contained. */
  readonly partitionCount: number
  readonly offsetsProblem: string | null
  readonly sizesProblem: string | null
  /** The effective configuration, and whether a value is set on the topic itself. */
  readonly configs: Known<readonly { readonly name: string; readonly value: string; readonly isOwn: boolean }[]>
  /** Connectors that have used the topic. */
  readonly connectors: readonly string[]
}

export type GroupRow = {
  readonly groupId: string
  /** Null if it is not known. */
  readonly state: string | null
  readonly members: number | null
  readonly partitions: readonly {
    readonly partition: number
    readonly offset: number
    readonly end: number
    readonly lag: number
  }[]
  readonly lag: number
}

export type GroupReport = {
  /** Those with the highest lag first. */
  readonly groups: readonly GroupRow[]
  /** The number of groups of all topics, of which only the first ones were asked for their offsets. */
  readonly groupCount: number
  readonly askedGroups: number
  /** Why offsets of some groups are not known. */
  readonly problems: readonly string[]
}

export type TopicDirectoryOptions = {
  readonly broker: Broker
  readonly isProgramTopic: (topic: string) => boolean
  /** The names of all connectors, and the topics that one has used. */
  readonly connectors: () => readonly string[]
  readonly topicsOf: (connector: string) => readonly string[]
}

/** What a row of the list shows of the configuration. */
const LISTED_CONFIGS = ['cleanup.policy', 'retention.ms', 'retention.bytes']
const PARTITIONS_MAX = 1_000
const GROUPS_MAX = 500
const PROBLEMS_MAX = 5

/** Describes topics with the account of the worker. What its rights do not cover is reported as a problem of that part. */
export class TopicDirectory {
  readonly #options: TopicDirectoryOptions

  constructor(options: TopicDirectoryOptions) {
    this.#options = options
  }

  async list(
    { search, withInternal, offset, limit }: TopicListQuery,
    isReadable: (topic: string) => boolean,
  ): Promise<TopicPage> {
    const wanted = search.toLowerCase()
    const matching = (await this.#options.broker.topics.describeAll())
      .filter(({ name }) => isReadable(name) && name.toLowerCase().includes(wanted))
      .filter((topic) => withInternal || !this.#isInternal(topic))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const page = matching.slice(offset, offset + limit)
    const [sizes, configs] = await Promise.all([known(this.#sizes(page)), known(this.#configs(page))])
    const rows = page.map((topic) => ({
      name: topic.name,
      isInternal: this.#isInternal(topic),
      partitions: topic.partitions.length,
      replicas: Math.min(...topic.partitions.map(({ replicas }) => replicas)),
      bytes: sizeOf(sizes, topic),
      configs: configs.value?.values.get(topic.name) ?? null,
    }))
    return {
      topics: rows,
      total: matching.length,
      sizesProblem: sizes.problem ?? null,
      configsProblem: configs.problem ?? configs.value.problem,
    }
  }

  /** Undefined if the topic does not exist, or if the worker may not know whether it exists. */
  async describe(name: string, isReadableConnector: (connector: string) => boolean): Promise<TopicReport | undefined> {
    const { topics } = this.#options.broker
    const topic = await topics.describe(name)
    if (topic === undefined) return undefined
    const shown = topic.partitions.toSorted((a, b) => a.partition - b.partition).slice(0, PARTITIONS_MAX)
    const [starts, ends, sizes, effective, own] = await Promise.all([
      known(topics.offsets(name, 'earliest')),
      known(topics.offsets(name, 'latest')),
      known(this.#sizes([topic])),
      known(topics.configs(name)),
      known(topics.ownConfigs(name)),
    ])
    const offsetIn = (offsets: typeof starts, partition: number) =>
      offsets.value?.find((one) => one.partition === partition)?.offset ?? null
    return {
      name,
      isInternal: this.#isInternal(topic),
      partitions: shown.map((partition) => ({
        ...partition,
        earliest: offsetIn(starts, partition.partition),
        end: offsetIn(ends, partition.partition),
        bytes: sizes.value?.get(`${partition.partition} ${name}`) ?? null,
      })),
      partitionCount: topic.partitions.length,
      offsetsProblem: starts.problem ?? ends.problem ?? null,
      sizesProblem: sizes.problem ?? null,
      configs: effective.value === undefined ? effective : { value: configRows(effective.value, own.value ?? {}) },
      connectors: this.#options
        .connectors()
        .filter((connector) => isReadableConnector(connector) && this.#options.topicsOf(connector).includes(name)),
    }
  }

  /** The consumer groups that have offsets of the topic. Undefined if it does not exist. */
  async groups(name: string): Promise<GroupReport | undefined> {
    const { topics, groups } = this.#options.broker
    if ((await topics.describe(name)) === undefined) return undefined
    const ends = await topics.offsets(name, 'latest', 'read_uncommitted')
    const listed = (await groups.list())
      .filter(({ protocolType }) => protocolType === 'consumer' || protocolType === '')
      .map(({ groupId }) => groupId)
      .sort()
    const asked = listed.slice(0, GROUPS_MAX)
    const problems: string[] = []
    const found = await mapConcurrently(asked, async (groupId): Promise<GroupRow | undefined> => {
      const offsets = await known(groups.offsets(groupId))
      if (offsets.value === undefined) {
        problems.push(offsets.problem)
        return undefined
      }
      const partitions = offsets.value.flatMap(({ topic, partition, offset }) => {
        const end = ends.find((one) => one.partition === partition)?.offset
        if (topic !== name || end === undefined) return []
        return [{ partition, offset, end, lag: Math.max(0, end - offset) }]
      })
      if (partitions.length === 0) return undefined
      const { value: described } = await known(groups.describe(groupId))
      const isKnown = described !== undefined && described.state !== 'dead'
      return {
        groupId,
        state: isKnown ? described.state : null,
        members: isKnown ? described.members.length : null,
        partitions: partitions.sort((a, b) => a.partition - b.partition).slice(0, PARTITIONS_MAX),
        lag: partitions.reduce((sum, { lag }) => sum + lag, 0),
      }
    })
    return {
      groups: found.filter((row) => row !== undefined).sort((a, b) => b.lag - a.lag),
      groupCount: listed.length,
      askedGroups: asked.length,
      problems: [...new Set(problems)].slice(0, PROBLEMS_MAX),
    }
  }

  #isInternal({ name, internal }: TopicDescription): boolean {
    return internal || this.#options.isProgramTopic(name)
  }

  /** By partition and topic. */
  async #sizes(topics: readonly TopicDescription[]): Promise<ReadonlyMap<string, number>> {
    const partitions = topics.flatMap(({ name, partitions }) =>
      partitions.map(({ partition }) => ({ topic: name, partition })),
    )
    const sizes = partitions.length === 0 ? [] : await this.#options.broker.topics.sizes(partitions)
    return new Map(sizes.map(({ topic, partition, bytes }) => [`${partition} ${topic}`, bytes]))
  }

  async #configs(topics: readonly TopicDescription[]) {
    const names = topics.map(({ name }) => name)
    const found = names.length === 0 ? [] : await this.#options.broker.topics.configValues(names, LISTED_CONFIGS)
    return {
      values: new Map(found.flatMap(({ topic, values, error }) => (error ? [] : [[topic, values] as const]))),
      problem: found.find(({ error }) => error)?.error?.message ?? null,
    }
  }
}

async function known<Value>(asked: Promise<Value>): Promise<Known<Value>> {
  try {
    return { value: await asked }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

function sizeOf(sizes: Known<ReadonlyMap<string, number>>, { name, partitions }: TopicDescription): number | null {
  if (sizes.value === undefined) return null
  const found = partitions.map(({ partition }) => sizes.value.get(`${partition} ${name}`))
  return found.reduce<number | null>((sum, bytes) => (sum === null || bytes === undefined ? null : sum + bytes), 0)
}

function configRows(effective: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>) {
  return Object.entries(effective)
    .map(([name, value]) => ({ name, value, isOwn: Object.hasOwn(own, name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
