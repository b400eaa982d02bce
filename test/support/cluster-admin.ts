import { readClientConfig } from '../../src/broker/kafka/client-config.ts'
import { findCoordinatorApi, GROUP_COORDINATOR, TRANSACTION_COORDINATOR } from '../../src/broker/kafka/group-apis.ts'
import type { KafkaApi } from '../../src/broker/kafka/kafka-api.ts'
import { createConnector } from '../../src/broker/kafka/kafka-connection.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { ClusterNode, KafkaCluster } from '../env/kafka-cluster.ts'
import { until } from './until.ts'

type PartitionState = {
  readonly topic: string
  readonly partition: number
  /** Node id; -1 without a leader. */
  readonly leader: number
  readonly replicas: readonly number[]
  readonly inSync: readonly number[]
}

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
/** A frozen node does not answer, and the next is asked. */
const REQUEST_TIMEOUT_MS = 2_000

/** Finds the nodes that have a role, and moves roles. It asks the first node that answers. */
export class ClusterAdmin {
  readonly #cluster: KafkaCluster
  readonly #connector: ReturnType<typeof createConnector>

  constructor(cluster: KafkaCluster) {
    this.#cluster = cluster
    const timeout = { 'request.timeout.ms': String(REQUEST_TIMEOUT_MS) }
    const { config, tls } = readClientConfig({ 'bootstrap.servers': cluster.bootstrap, ...timeout })
    this.#connector = createConnector(config, { logger: silentLogger(), tls })
  }

  async leaderOf(topic: string): Promise<ClusterNode> {
    const [first] = (await this.#partitions()).filter((partition) => partition.topic === topic)
    return this.#node(first!.leader)
  }

  async groupCoordinatorOf(groupId: string): Promise<ClusterNode> {
    return this.#coordinatorOf(GROUP_COORDINATOR, groupId)
  }

  async transactionCoordinatorOf(transactionalId: string): Promise<ClusterNode> {
    return this.#coordinatorOf(TRANSACTION_COORDINATOR, transactionalId)
  }

  /** The controller that is active. */
  async controller(): Promise<ClusterNode> {
    return this.#node(await this.#call(quorumLeaderApi, undefined))
  }

  /** Gives each partition of a topic these replicas; the first becomes the preferred leader. */
  async reassign(topic: string, replicas: readonly number[]): Promise<void> {
    const partitions = (await this.#partitions()).filter((partition) => partition.topic === topic)
    await this.#call(
      reassignApi,
      partitions.map(({ partition }) => ({ topic, partition, replicas })),
    )
    await this.#untilPartitions(`the replicas ${replicas} of ${topic}`, (each) =>
      each.filter((one) => one.topic === topic).every((one) => sameNumbers(one.replicas, replicas)),
    )
  }

  /** Makes the preferred replica of each partition its leader. */
  async electPreferredLeaders(): Promise<void> {
    await this.#call(electLeadersApi, undefined)
  }

  /** Waits until each replica of each partition is in sync, so that the next node may fail. */
  async untilInSync(): Promise<void> {
    await this.#untilPartitions('all replicas to be in sync', (partitions) =>
      partitions.every(({ leader, replicas, inSync }) => leader >= 0 && sameNumbers(replicas, inSync)),
    )
  }

  async #untilPartitions(what: string, areSo: (partitions: readonly PartitionState[]) => boolean): Promise<void> {
    await until(what, WAIT, async () => areSo(await this.#partitions()))
  }

  async #partitions(): Promise<readonly PartitionState[]> {
    return this.#call(partitionStatesApi, undefined)
  }

  async #coordinatorOf(type: number, key: string): Promise<ClusterNode> {
    const found = await this.#call(findCoordinatorApi, { type, key })
    if (found.errorNumber !== 0) throw new Error(`finding the coordinator of '${key}': ${found.errorNumber}`)
    return this.#node(found.node)
  }

  #node(id: number): ClusterNode {
    const node = this.#cluster.nodes.find((each) => each.id === id)
    if (node === undefined) throw new Error(`no node has the id ${id}`)
    return node
  }

  async #call<Request, Response>(api: KafkaApi<Request, Response>, request: Request): Promise<Response> {
    let failure: unknown
    for (const { listeners } of this.#cluster.nodes) {
      const [host, port] = listeners['PLAINTEXT']!.split(':') as [string, string]
      try {
        const connection = await this.#connector.open({ host, port: Number(port) }, REQUEST_TIMEOUT_MS)
        try {
          return await connection.call(api, request)
        } finally {
          await connection.close()
        }
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }
}

function sameNumbers(some: readonly number[], others: readonly number[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}

const partitionStatesApi: KafkaApi<void, readonly PartitionState[]> = {
  key: 3,
  name: 'Metadata',
  version: 7,
  rights: () => ({}),
  write: (writer) => writer.int32(-1).bool(false),
  read: (reader) => {
    reader.int32()
    reader.array(() => [reader.int32(), reader.string(), reader.int32(), reader.nullableString()])
    reader.string()
    reader.int32()
    const topics = reader.array(() => {
      reader.int16()
      const topic = reader.string()
      reader.bool()
      return reader.array(() => {
        reader.int16()
        const [partition, leader] = [reader.int32(), reader.int32()]
        reader.int32()
        const [replicas, inSync] = [reader.array(() => reader.int32()), reader.array(() => reader.int32())]
        reader.array(() => reader.int32())
        return { topic, partition, leader, replicas, inSync }
      })
    })
    return topics.flat()
  },
}

/** Only the beginning of the response is read. */
const quorumLeaderApi: KafkaApi<void, number> = {
  key: 55,
  name: 'DescribeQuorum',
  version: 0,
  rights: () => ({}),
  isFlexible: true,
  write: (writer) =>
    writer
      .compactArray(['__cluster_metadata'], (topic) =>
        writer
          .compactString(topic)
          .compactArray([0], (partition) => writer.int32(partition).noTags())
          .noTags(),
      )
      .noTags(),
  read: (reader, errors) => {
    errors.check(reader.int16(), 'describing the quorum')
    reader.varint()
    reader.compactString()
    reader.varint()
    reader.int32()
    errors.check(reader.int16(), 'describing the quorum')
    return reader.int32()
  },
}

type Assignment = { readonly topic: string; readonly partition: number; readonly replicas: readonly number[] }

const reassignApi: KafkaApi<readonly Assignment[], void> = {
  key: 45,
  name: 'AlterPartitionReassignments',
  version: 0,
  rights: () => ({}),
  isFlexible: true,
  write: (writer, assignments) =>
    writer
      .int32(REQUEST_TIMEOUT_MS)
      .compactArray(assignments, ({ topic, partition, replicas }) =>
        writer
          .compactString(topic)
          .compactArray([replicas], (ids) =>
            writer
              .int32(partition)
              .compactArray(ids, (id) => writer.int32(id))
              .noTags(),
          )
          .noTags(),
      )
      .noTags(),
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'reassigning partitions', { detail: reader.compactString() })
    reader.compactArray(() => {
      const topic = reader.compactString()
      reader.compactArray(() => {
        reader.int32()
        errors.check(reader.int16(), `reassigning ${topic}`, { detail: reader.compactString() })
        reader.skipTags()
      })
      reader.skipTags()
    })
  },
}

/** Of all partitions. A partition that has its preferred leader already is no error. */
const electLeadersApi: KafkaApi<void, void> = {
  key: 43,
  name: 'ElectLeaders',
  version: 1,
  rights: () => ({}),
  write: (writer) => writer.int8(0).int32(-1).int32(REQUEST_TIMEOUT_MS),
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'electing leaders')
  },
}
