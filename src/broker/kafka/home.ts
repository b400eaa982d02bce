import { type Clock, systemClock } from '../../config/clock.ts'
import type { Logger } from '../../config/logger.ts'
import type { PartitionOffset } from '../broker.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'
import { BrokerError } from '../error.ts'
import type { Home, HomeRequest } from '../home.ts'
import * as admin from './admin-calls.ts'
import { BRIEFLY, KafkaCluster, type Patience } from './cluster.ts'
import { readClientConfig } from './config.ts'
import { check, doubtingProtocol, MEMBER_ID_REQUIRED, partitionError, UNKNOWN_TOPIC } from './error.ts'
import * as group from './group-calls.ts'
import * as identity from './identity-calls.ts'
import { createLines } from './line.ts'
import * as log from './log-calls.ts'
import { addPartitions, createTopic, deleteTopic } from './topic-changes.ts'
import * as transaction from './transaction-calls.ts'

export type KafkaOptions = {
  readonly logger: Logger
  readonly clock?: Clock
  /** How files and hosts are reached. Default: as the process may. */
  readonly access?: ClientAccess
}

/**
 * Kafka as a home of the log. `config` holds the Java client's keys (`bootstrap.servers`, `security.protocol`, …); a
 * wrong one is a `UserError`. Returns when the cluster has answered; a cluster that can't be reached rejects.
 */
export async function openKafkaHome(config: Readonly<Record<string, string>>, options: KafkaOptions): Promise<Home> {
  const { access = UNRESTRICTED_CLIENT } = options
  const { config: client, protocol, tls, ignored } = readClientConfig(config, access)
  if (ignored.length > 0) options.logger.debug({ keys: ignored }, 'these client settings have no effect here')
  const lines = createLines(client, options.logger, tls, access)
  const cluster = new KafkaCluster(lines, client, options.clock ?? systemClock)
  const close = () => {
    lines.close()
    return cluster.close()
  }
  try {
    const { clusterId } = await cluster.metadata([])
    return { ...createHome(cluster, clusterId), close }
  } catch (error) {
    await close()
    throw doubtingProtocol(error, protocol)
  }
}

function createHome(cluster: KafkaCluster, clusterId: string): Omit<Home, 'close'> {
  const onGroup = <T>(groupId: string, use: (node: number) => Promise<T>, patience?: Patience) =>
    cluster.withCoordinator(group.GROUP, groupId, use, patience)
  const onTransaction = <T>(id: string, use: (node: number) => Promise<T>) =>
    cluster.withCoordinator(group.TRANSACTION, id, use)
  return {
    clusterId: async () => clusterId,

    metadata: async ({ topics }) => {
      const found = await cluster.metadata(topics)
      return found.topics.filter(({ errorNumber }) => errorNumber === 0).map(({ errorNumber: _, ...topic }) => topic)
    },
    topicId: async ({ topic }) =>
      (await cluster.supports(identity.topicId)) ? cluster.onAny(identity.topicId, topic) : undefined,
    createTopic: (topic) => createTopic(cluster, topic),
    deleteTopic: ({ topic }) => deleteTopic(cluster, topic),
    addPartitions: (request) => addPartitions(cluster, request),
    topicConfigs: ({ topic }) => cluster.onAny(admin.topicConfigs, topic),
    setTopicConfigs: (request) => cluster.onController(admin.setTopicConfigs, request),
    listOffsets: (request) => cluster.passing(() => listOffsets(cluster, request)),

    produce: (request) => cluster.onNode(request.node, log.produce, request),
    fetch: (request) => cluster.onNodeWaiting(request.node, log.fetch, request, request.waitMsMax),

    initProducer: (request) =>
      request.transactionalId === undefined
        ? cluster.onAny(transaction.initProducer, request)
        : onTransaction(request.transactionalId, (node) => cluster.onNode(node, transaction.initProducer, request)),
    knowsTransactionalId: async ({ transactionalId }) =>
      (await cluster.supports(identity.knowsTransactionalId))
        ? onTransaction(transactionalId, (node) => cluster.onNode(node, identity.knowsTransactionalId, transactionalId))
        : undefined,
    addPartitionsToTransaction: (request) =>
      onTransaction(request.transactionalId, (node) => cluster.onNode(node, transaction.addPartitions, request)),
    commitOffsetsInTransaction: async (request) => {
      await onTransaction(request.transactionalId, (node) => cluster.onNode(node, transaction.addOffsets, request))
      await onGroup(request.groupId, (node) => cluster.onNode(node, transaction.commitTransactionOffsets, request))
    },
    endTransaction: (request) =>
      onTransaction(request.transactionalId, (node) => cluster.onNode(node, transaction.endTransaction, request)),

    joinGroup: (request) => onGroup(request.groupId, (node) => join(cluster, node, request)),
    syncGroup: (request) =>
      onGroup(request.groupId, (node) => cluster.onNodeWaiting(node, group.syncGroup, request, SYNC_WAIT_MS)),
    heartbeat: (request) => onGroup(request.groupId, (node) => cluster.onNode(node, group.heartbeat, request), BRIEFLY),
    leaveGroup: (request) =>
      onGroup(request.groupId, (node) => cluster.onNode(node, group.leaveGroup, request), BRIEFLY),
    commitOffsets: (request) => onGroup(request.groupId, (node) => cluster.onNode(node, group.commitOffsets, request)),
    groupOffsets: (request) => onGroup(request.groupId, (node) => cluster.onNode(node, group.groupOffsets, request)),
    listGroups: async () => (await Promise.all(await cluster.onEach(group.listGroups, undefined))).flat(),
    describeGroup: async ({ groupId }) => ({
      ...(await onGroup(groupId, (node) => cluster.onNode(node, group.describeGroup, groupId))),
      groupId,
    }),
    deleteGroupOffsets: (request) =>
      onGroup(request.groupId, (node) => cluster.onNode(node, group.deleteGroupOffsets, request)),
    deleteGroup: ({ groupId }) => onGroup(groupId, (node) => cluster.onNode(node, group.deleteGroup, groupId)),
  }
}

const SYNC_WAIT_MS = 60_000

/** The broker gives a new member its id first and wants it to ask again with it (KIP-394). */
async function join(cluster: KafkaCluster, node: number, request: HomeRequest<'joinGroup'>) {
  const ask = (memberId: string) =>
    cluster.onNodeWaiting(node, group.joinGroup, { ...request, memberId }, request.rebalanceTimeoutMs, request.clientId)
  const first = await ask(request.memberId)
  const { errorNumber, ...joined } = first.errorNumber === MEMBER_ID_REQUIRED ? await ask(first.memberId) : first
  check(errorNumber, `joining group '${request.groupId}'`)
  return joined
}

async function listOffsets(
  cluster: KafkaCluster,
  request: HomeRequest<'listOffsets'>,
): Promise<readonly PartitionOffset[]> {
  const { topics } = await cluster.metadata([...new Set(request.partitions.map(({ topic }) => topic))])
  const leaderOf = (topic: string, partition: number): number => {
    const found = topics.find((candidate) => candidate.topic === topic)
    const known = found?.partitions.find((candidate) => candidate.partition === partition)
    if (known) return known.leader
    const error = partitionError(found?.errorNumber ?? UNKNOWN_TOPIC, `offsets of ${topic}-${partition}`)
    throw new BrokerError(
      error?.code ?? 'topic_not_found',
      error?.message ?? `there is no partition ${partition} of topic '${topic}'`,
    )
  }
  const byNode = Map.groupBy(request.partitions, ({ topic, partition }) => leaderOf(topic, partition))
  const found = await Promise.all(
    [...byNode].map(([node, partitions]) => cluster.onNode(node, log.listOffsets, { ...request, partitions })),
  )
  const offsets = found.flat().map(({ error, ...offset }) => {
    if (error) throw new BrokerError(error.code, error.message)
    return offset
  })
  // No record is as late as the time asked for: the end.
  const late = typeof request.at === 'number' ? offsets.filter(({ offset }) => offset < 0) : []
  if (late.length === 0) return offsets
  const ends = await listOffsets(cluster, { ...request, partitions: late, at: 'latest' })
  return [...offsets.filter(({ offset }) => offset >= 0), ...ends]
}
