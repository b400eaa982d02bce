import kafkajs, { type AclEntry, type Admin } from 'kafkajs'
import { must } from '../env/debian.ts'
import { kafkaTool } from '../env/kafka.ts'
import { type ClusterNode, type KafkaCluster, startKafkaCluster } from '../env/kafka-cluster.ts'
import type { Right } from './fault-schedule.ts'
import { SmallDisk } from './small-disk.ts'
import { UnreliableLink } from './unreliable-link.ts'

const {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka: Client,
  logLevel,
  ResourcePatternTypes,
} = kafkajs

/** Names in the cluster that the faults refer to. */
export const NAMES = {
  schemas: '_schemas',
  workers: 'chaos-workers',
  sink: 'lines-out',
  topics: ['lines-a', 'lines-b', 'lines-c'],
} as const
export const USERS = ['registry', 'workers'] as const
/** Where the links listen: with the port of the broker, but at another address. */
const LINK_HOST = '127.0.0.2'
const RESET_EVERY_MS = 500
/** Of the stand-in for a full disk: no file may become larger. */
const FILE_BYTES_MAX = 4_096

type Assignment = {
  readonly topic: string
  readonly partitions: readonly { readonly id: number; readonly replicas: readonly number[] }[]
}

/** Three brokers with links before them, on small disks, with users whose rights can be revoked. */
export class ChaosCluster {
  readonly #cluster: KafkaCluster
  readonly #links: readonly UnreliableLink[]
  readonly #disks: readonly (SmallDisk | undefined)[]
  readonly #admin: Admin

  private constructor(
    cluster: KafkaCluster,
    links: readonly UnreliableLink[],
    disks: readonly (SmallDisk | undefined)[],
  ) {
    this.#cluster = cluster
    this.#links = links
    this.#disks = disks
    const brokers = cluster.bootstrap.split(',')
    this.#admin = new Client({ brokers, logLevel: logLevel.NOTHING, retry: { retries: 20 } }).admin()
  }

  static async start(): Promise<ChaosCluster> {
    const disks: (SmallDisk | undefined)[] = []
    const cluster = await startKafkaCluster({
      users: Object.fromEntries(USERS.map((name) => [name, `${name}-secret`])),
      superUsers: [],
      hosts: { SASL_SSL: LINK_HOST },
      async mountData(directory) {
        const at = disks.push(undefined) - 1
        disks[at] = await SmallDisk.mount(directory)
        return async () => disks[at]?.unmount()
      },
    })
    const ports = cluster.securedBootstrap.split(',').map((address) => Number(address.split(':')[1]))
    const links = await Promise.all(
      ports.map((port) => UnreliableLink.open({ host: LINK_HOST, port }, { host: '127.0.0.1', port })),
    )
    const chaos = new ChaosCluster(cluster, links, disks)
    await chaos.#admin.connect()
    await chaos.#admin.createAcls({ acl: USERS.flatMap(allRightsOf) })
    const topics = NAMES.topics.map((topic) => ({ topic, numPartitions: 1, replicationFactor: 3 }))
    await chaos.#admin.createTopics({ topics })
    return chaos
  }

  /** `host:port,…` of the plain listeners, without links. */
  get bootstrap(): string {
    return this.#cluster.bootstrap
  }

  /** How a full disk is caused, for the report. */
  get diskDescription(): string {
    return this.#disks[0] !== undefined
      ? 'a full tmpfs'
      : `no file larger than ${FILE_BYTES_MAX} bytes, because no file system can be mounted`
  }

  /** Settings of a client of Kafka that logs in as this user, through the links. */
  clientSettings(user: (typeof USERS)[number]): Readonly<Record<string, string>> {
    const bootstrap = this.#cluster.securedBootstrap.replaceAll('127.0.0.1', LINK_HOST)
    // The certificate does not name the links.
    const own = { 'bootstrap.servers': bootstrap, 'ssl.endpoint.identification.algorithm': '' }
    return { ...this.#cluster.clientSettings(user), ...own }
  }

  node(broker: number): ClusterNode {
    return this.#cluster.nodes[broker - 1]!
  }

  link(broker: number): UnreliableLink {
    return this.#links[broker - 1]!
  }

  resetConnections(broker: number): void {
    this.link(broker).reset(RESET_EVERY_MS)
  }

  /** Returns a function that makes room on the disk again. The broker has exited or can write nothing by then. */
  async fillDisk(broker: number): Promise<() => Promise<void>> {
    const disk = this.#disks[broker - 1]
    if (disk === undefined) {
      // A limit of the process, which ends with it.
      const args = ['--pid', String(this.node(broker).pid()), `--fsize=${FILE_BYTES_MAX}:`]
      await must({ file: 'prlimit', args, directory: '.' })
      return async () => undefined
    }
    disk.fill()
    return async () => disk.free()
  }

  /** Moves all partitions off a broker. Returns a function that gives it a replica of each again. */
  async reassignAwayFrom(broker: number): Promise<() => Promise<void>> {
    const before = await this.#assignments()
    await this.#assign(before, (replicas) => replicas.filter((replica) => replica !== broker))
    return () => this.#assign(before, (replicas) => replicas)
  }

  /** Makes the second replica of each partition its preferred leader, and elects it. */
  async electOtherLeaders(): Promise<void> {
    await this.#assign(await this.#assignments(), ([first, ...others]) => [...others, first!])
    const args = ['--bootstrap-server', this.bootstrap, '--election-type', 'preferred', '--all-topic-partitions']
    await kafkaTool('LeaderElectionCommand', args)
  }

  /** A denial takes precedence over what is allowed. Returns a function that removes it. */
  async revoke(right: Right): Promise<() => Promise<void>> {
    const acl = denialOf(right)
    await this.#admin.createAcls({ acl: [acl] })
    return async () => void (await this.#admin.deleteAcls({ filters: [acl] }))
  }

  async stop(): Promise<void> {
    for (const link of this.#links) link.close()
    await this.#admin.disconnect()
    await this.#cluster.stop()
  }

  async #assignments(): Promise<readonly Assignment[]> {
    const { topics } = await this.#admin.fetchTopicMetadata()
    return topics.map(({ name, partitions }) => ({
      topic: name,
      partitions: partitions.map(({ partitionId, replicas }) => ({ id: partitionId, replicas })),
    }))
  }

  async #assign(
    assignments: readonly Assignment[],
    toReplicas: (replicas: readonly number[]) => readonly number[],
  ): Promise<void> {
    const topics = assignments.map(({ topic, partitions }) => ({
      topic,
      partitionAssignment: partitions.map(({ id, replicas }) => ({
        partition: id,
        replicas: [...toReplicas(replicas)],
      })),
    }))
    await this.#admin.alterPartitionReassignments({ topics })
  }
}

function allRightsOf(user: string): AclEntry[] {
  const { TOPIC, GROUP, TRANSACTIONAL_ID, CLUSTER } = AclResourceTypes
  return [TOPIC, GROUP, TRANSACTIONAL_ID, CLUSTER].map((resourceType) => ({
    ...aclFor(user),
    resourceType,
    resourceName: resourceType === CLUSTER ? 'kafka-cluster' : '*',
    operation: AclOperationTypes.ALL,
    permissionType: AclPermissionTypes.ALLOW,
  }))
}

function denialOf(right: Right): AclEntry {
  const { READ, WRITE } = AclOperationTypes
  const { TOPIC, GROUP } = AclResourceTypes
  const denied = {
    'write schemas': { ...aclFor('registry'), resourceType: TOPIC, resourceName: NAMES.schemas, operation: WRITE },
    'join the workers': { ...aclFor('workers'), resourceType: GROUP, resourceName: NAMES.workers, operation: READ },
    'write lines': { ...aclFor('workers'), resourceType: TOPIC, resourceName: NAMES.topics[0], operation: WRITE },
    'read lines': { ...aclFor('workers'), resourceType: GROUP, resourceName: `connect-${NAMES.sink}`, operation: READ },
  }
  return { ...denied[right], permissionType: AclPermissionTypes.DENY }
}

function aclFor(user: string) {
  return { principal: `User:${user}`, host: '*', resourcePatternType: ResourcePatternTypes.LITERAL }
}
