import { type Clock, systemClock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { PartitionOffset } from '../broker.ts'
import type { BackendRequest, BrokerBackend } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'
import * as admin from './admin-apis.ts'
import { readClientConfig } from './client-config.ts'
import * as group from './group-apis.ts'
import * as identity from './identity-apis.ts'
import { KafkaCluster, LEADER_RETRY, type RetryLimits, SHORT_RETRY } from './kafka-cluster.ts'
import { createConnector } from './kafka-connection.ts'
import {
  MEMBER_ID_REQUIRED,
  suggestProtocolMismatch,
  throwOnError,
  toPartitionError,
  UNKNOWN_TOPIC_OR_PARTITION,
} from './kafka-error.ts'
import * as log from './produce-fetch-apis.ts'
import { addPartitions, createTopic, deleteTopic } from './topic-changes.ts'
import { topicMetadata } from './topic-metadata.ts'
import * as transaction from './transaction-apis.ts'

export type KafkaBackendOptions = {
  readonly logger: Logger
  readonly clock?: Clock
  /** Access to files and hosts. Default: unrestricted. */
  readonly access?: ClientAccess
}

/**
 * Connects to Kafka. `config` holds the keys of Java clients (`bootstrap.servers`, `security.protocol`, …); an invalid
 * one is a `UserError`. Resolves when the cluster has responded and rejects if it is unreachable.
 */
export async function openKafkaBackend(
  config: Readonly<Record<string, string>>,
  options: KafkaBackendOptions,
): Promise<BrokerBackend> {
  const { access = UNRESTRICTED_CLIENT, clock = systemClock } = options
  const { config: client, protocol, tls, ignored } = readClientConfig(config, { access, clock })
  if (ignored.length > 0) options.logger.debug({ keys: ignored }, 'unsupported client settings are ignored')
  const connector = createConnector(client, options.logger, tls, access)
  const cluster = new KafkaCluster(connector, client, clock)
  const close = () => {
    connector.close()
    return cluster.close()
  }
  try {
    const { clusterId } = await cluster.metadata([])
    return { ...createBackend(cluster, clusterId), close }
  } catch (error) {
    await close()
    throw suggestProtocolMismatch(error, protocol)
  }
}

function createBackend(cluster: KafkaCluster, clusterId: string): Omit<BrokerBackend, 'close'> {
  const onGroup = <T>(groupId: string, use: (node: number) => Promise<T>, limits?: RetryLimits) =>
    cluster.withCoordinator(group.GROUP_COORDINATOR, groupId, use, limits)
  const onTransaction = <T>(id: string, use: (node: number) => Promise<T>) =>
    cluster.withCoordinator(group.TRANSACTION_COORDINATOR, id, use)
  return {
    clusterId: async () => clusterId,

    metadata: (request) => topicMetadata(cluster, request),
    topicId: async ({ topic }) =>
      (await cluster.supports(identity.topicIdApi)) ? cluster.onAnyNode(identity.topicIdApi, topic) : undefined,
    createTopic: (topic) => createTopic(cluster, topic),
    deleteTopic: ({ topic }) => deleteTopic(cluster, topic),
    addPartitions: (request) => addPartitions(cluster, request),
    topicConfigs: async ({ topic, isOwn = false }) => {
      const configs = await cluster.onAnyNode(admin.describeConfigsApi, topic)
      return Object.fromEntries(
        configs.filter((config) => config.isOwn || !isOwn).map(({ name, value }) => [name, value]),
      )
    },
    setTopicConfigs: (request) => cluster.onController(admin.incrementalAlterConfigsApi, request),
    listOffsets: (request) => {
      let isRetry = false
      return cluster.retryTransient(
        () => {
          const leaderOf = isRetry ? undefined : givenLeaders(request)
          isRetry = true
          return listOffsets(cluster, request, leaderOf)
        },
        undefined,
        LEADER_RETRY,
      )
    },

    produce: (request) => cluster.onNode(request.node, log.produceApi, request),
    fetch: (request) => cluster.onNodeLongPoll(request.node, log.fetchApi, request, request.waitMsMax),

    initProducer: (request) =>
      request.transactionalId === undefined
        ? cluster.onAnyNode(transaction.initProducerIdApi, request)
        : onTransaction(request.transactionalId, (node) =>
            cluster.onNode(node, transaction.initProducerIdApi, request),
          ),
    hasTransactionalId: async ({ transactionalId }) =>
      (await cluster.supports(identity.describeTransactionsApi))
        ? onTransaction(transactionalId, (node) =>
            cluster.onNode(node, identity.describeTransactionsApi, transactionalId),
          )
        : undefined,
    addPartitionsToTransaction: (request) =>
      onTransaction(request.transactionalId, (node) =>
        cluster.onNode(node, transaction.addPartitionsToTxnApi, request),
      ),
    commitOffsetsInTransaction: async (request) => {
      await onTransaction(request.transactionalId, (node) =>
        cluster.onNode(node, transaction.addOffsetsToTxnApi, request),
      )
      await onGroup(request.groupId, (node) => cluster.onNode(node, transaction.txnOffsetCommitApi, request))
    },
    endTransaction: (request) =>
      onTransaction(request.transactionalId, (node) => cluster.onNode(node, transaction.endTxnApi, request)),

    joinGroup: (request) => onGroup(request.groupId, (node) => join(cluster, node, request)),
    syncGroup: (request) =>
      onGroup(request.groupId, (node) => cluster.onNodeLongPoll(node, group.syncGroupApi, request, SYNC_WAIT_MS)),
    heartbeat: (request) =>
      onGroup(request.groupId, (node) => cluster.onNode(node, group.heartbeatApi, request), SHORT_RETRY),
    leaveGroup: (request) =>
      onGroup(request.groupId, (node) => cluster.onNode(node, group.leaveGroupApi, request), SHORT_RETRY),
    commitOffsets: (request) =>
      onGroup(request.groupId, (node) => cluster.onNode(node, group.offsetCommitApi, request)),
    groupOffsets: (request) => onGroup(request.groupId, (node) => cluster.onNode(node, group.offsetFetchApi, request)),
    listGroups: async () => (await Promise.all(await cluster.onEveryNode(group.listGroupsApi, undefined))).flat(),
    describeGroup: async ({ groupId }) => ({
      ...(await onGroup(groupId, (node) => cluster.onNode(node, group.describeGroupsApi, groupId))),
      groupId,
    }),
    deleteGroupOffsets: (request) =>
      onGroup(request.groupId, (node) => cluster.onNode(node, group.offsetDeleteApi, request)),
    deleteGroup: ({ groupId }) => onGroup(groupId, (node) => cluster.onNode(node, group.deleteGroupsApi, groupId)),
  }
}

const SYNC_WAIT_MS = 60_000

/** The coordinator assigns a member id first and expects a second join with it (KIP-394). */
async function join(cluster: KafkaCluster, node: number, request: BackendRequest<'joinGroup'>) {
  const join = (memberId: string) =>
    cluster.onNodeLongPoll(
      node,
      group.joinGroupApi,
      { ...request, memberId },
      request.rebalanceTimeoutMs,
      request.clientId,
    )
  const first = await join(request.memberId)
  const { errorNumber, ...joined } = first.errorNumber === MEMBER_ID_REQUIRED ? await join(first.memberId) : first
  throwOnError(errorNumber, `joining group '${request.groupId}'`)
  return joined
}

type LeaderOf = (partition: BackendRequest<'listOffsets'>['partitions'][number]) => number

/** Undefined if the leader of a partition is not given. */
function givenLeaders({ partitions }: BackendRequest<'listOffsets'>): LeaderOf | undefined {
  return partitions.every(({ leader = -1 }) => leader >= 0) ? ({ leader = -1 }) => leader : undefined
}

async function currentLeaders(cluster: KafkaCluster, { partitions }: BackendRequest<'listOffsets'>): Promise<LeaderOf> {
  const { topics } = await cluster.metadata([...new Set(partitions.map(({ topic }) => topic))])
  return ({ topic, partition }) => {
    const found = topics.find((candidate) => candidate.topic === topic)
    const known = found?.partitions.find((candidate) => candidate.partition === partition)
    if (known) return known.leader
    const error = toPartitionError(found?.errorNumber ?? UNKNOWN_TOPIC_OR_PARTITION, `offsets of ${topic}-${partition}`)
    throw new BrokerError(
      error?.code ?? 'topic_not_found',
      error?.message ?? `topic '${topic}' has no partition ${partition}`,
    )
  }
}

async function listOffsets(
  cluster: KafkaCluster,
  request: BackendRequest<'listOffsets'>,
  given?: LeaderOf,
): Promise<readonly PartitionOffset[]> {
  const leaderOf = given ?? (await currentLeaders(cluster, request))
  const byNode = Map.groupBy(request.partitions, leaderOf)
  const found = await Promise.all(
    [...byNode].map(([node, partitions]) => cluster.onNode(node, log.listOffsetsApi, { ...request, partitions })),
  )
  const offsets = found.flat().map(({ error, ...offset }) => {
    if (error) throw new BrokerError(error.code, error.message)
    return offset
  })
  // There is no record at or after the timestamp: use the end offset.
  const late = typeof request.at === 'number' ? offsets.filter(({ offset }) => offset < 0) : []
  if (late.length === 0) return offsets
  const ends = await listOffsets(cluster, { ...request, partitions: late, at: 'latest' })
  return [...offsets.filter(({ offset }) => offset >= 0), ...ends]
}
