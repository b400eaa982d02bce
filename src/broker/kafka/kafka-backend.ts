import { type Clock, systemClock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { PartitionOffset } from '../broker.ts'
import type { BackendRequest, BrokerBackend } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'
import type { ClientDefaults } from '../client-settings.ts'
import * as admin from './admin-apis.ts'
import { checkRights } from './check-rights.ts'
import { readClientConfig } from './client-config.ts'
import * as group from './group-apis.ts'
import * as identity from './identity-apis.ts'
import type { KafkaApi } from './kafka-api.ts'
import { KafkaCluster, type RetryLimits } from './kafka-cluster.ts'
import { createConnector } from './kafka-connection.ts'
import { suggestProtocolMismatch } from './kafka-error.ts'
import * as log from './produce-fetch-apis.ts'
import type { ResolveHost, ResolveName } from './resolve-host.ts'
import { addPartitions, createTopic, deleteTopic } from './topic-changes.ts'
import { topicMetadata } from './topic-metadata.ts'
import * as transaction from './transaction-apis.ts'

/** How much longer than a rebalance a member waits for the response to JoinGroup, as in Kafka's clients. */
const JOIN_GROUP_TIMEOUT_LAPSE_MS = 5_000

/** The level of `transaction.version` with an epoch for each transaction (KIP-890). */
const EPOCH_OF_TRANSACTION = 2

export type KafkaBackendOptions = {
  readonly logger: Logger
  readonly clock?: Clock
  /** Access to files and hosts. Default: unrestricted. */
  readonly access?: ClientAccess
  /** Default: the resolver of the system. */
  readonly resolveHost?: ResolveHost | undefined
  readonly nameOf?: ResolveName | undefined
}

/**
 * Connects to Kafka. `config` holds the keys of Java clients (`bootstrap.servers`, `security.protocol`, …); an invalid
 * one is a `UserError`. Resolves when the cluster has responded and rejects if it is unreachable.
 */
export async function openKafkaBackend(
  config: Readonly<Record<string, string>>,
  options: KafkaBackendOptions,
): Promise<BrokerBackend & { readonly defaults: ClientDefaults }> {
  const { access = UNRESTRICTED_CLIENT, clock = systemClock } = options
  const { config: client, protocol, tls, ignored } = readClientConfig(config, { access, clock })
  if (ignored.length > 0) options.logger.debug({ keys: ignored }, 'unsupported client settings are ignored')
  const { logger, resolveHost, nameOf } = options
  const connector = createConnector(client, { logger, tls, access, clock, resolveHost })
  const cluster = new KafkaCluster({ connector, config: client, clock, resolveHost, nameOf })
  const close = () => {
    connector.close()
    return cluster.close()
  }
  try {
    const { clusterId } = await cluster.metadata([])
    const { metadataMaxAgeMs, retryBackoff } = client
    const backend = createBackend(cluster, clusterId, options.logger)
    return { ...backend, close, defaults: { metadataMaxAgeMs, retryBackoff } }
  } catch (error) {
    await close()
    throw suggestProtocolMismatch(error, protocol)
  }
}

export function createBackend(cluster: KafkaCluster, clusterId: string, logger: Logger): Omit<BrokerBackend, 'close'> {
  const onGroup = <Request extends { readonly groupId: string }, Response>(
    api: KafkaApi<Request, Response>,
    request: Request,
    { limits, use = (node) => cluster.onNode(node, api, request) }: GroupCallOptions<Response> = {},
  ) => {
    const coordinator = { type: group.GROUP_COORDINATOR, key: request.groupId, rights: api.rights(request) }
    return cluster.withCoordinator(coordinator, use, limits)
  }
  const onTransaction = <Request extends { readonly transactionalId: string }, Response>(
    api: KafkaApi<Request, Response>,
    request: Request,
  ) => {
    const { transactionalId: key } = request
    const coordinator = { type: group.TRANSACTION_COORDINATOR, key, rights: api.rights(request) }
    return cluster.withCoordinator(coordinator, (node) => cluster.onNode(node, api, request))
  }
  /** The feature of the cluster, when a producer was last initialized. */
  let transactionVersion = 0
  return {
    clusterId: async () => clusterId,
    checkRights: ({ rights }) =>
      checkRights(rights, {
        metadata: (topics) => whereSupported(cluster.onAnyNode(log.metadataOperationsApi, topics)),
        group: (groupId) => whereSupported(onGroup(group.groupOperationsApi, { groupId })),
        transactionalId: (transactionalId) =>
          whereSupported(onTransaction(identity.describeTransactionsApi, { transactionalId })),
      }),

    metadata: (request) => topicMetadata(cluster, request),
    topicId: ({ topic }) => whereSupported(cluster.onAnyNode(identity.topicIdApi, topic)),
    createTopic: (topic) => createTopic(cluster, topic, logger),
    deleteTopic: ({ topic }) => deleteTopic(cluster, topic),
    addPartitions: (request) => addPartitions(cluster, request),
    topicConfigs: async ({ topic, isOwn = false }) => {
      const [found] = await cluster.onAnyNode(admin.describeConfigsApi, { topics: [topic] })
      if (found?.error) throw BrokerError.of(found.error)
      return valuesOf((found?.configs ?? []).filter((config) => config.isOwn || !isOwn))
    },
    topicConfigValues: async (request) => {
      const described = await cluster.onAnyNode(admin.describeConfigsApi, request)
      return described.map(({ topic, configs, error }) => ({
        topic,
        values: valuesOf(configs),
        ...(error && { error }),
      }))
    },
    replicaSizes: async ({ partitions }) =>
      (await Promise.all(await cluster.onEveryNode(admin.describeLogDirsApi, partitions))).flat(),
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
        cluster.leaderLimits,
      )
    },

    produce: (request) => {
      const timeoutMs = Math.min(request.timeoutMs, cluster.config.requestTimeoutMs)
      return cluster.onNode(request.node, log.produceApi, { ...request, timeoutMs })
    },
    fetch: (request) => cluster.onNodeLongPoll(request.node, log.fetchApi, request, { waitMs: request.waitMsMax }),

    initProducer: async ({ transactionalId, ...request }) => {
      if (transactionalId === undefined) return cluster.onAnyNode(transaction.initProducerIdApi, request)
      const features = await whereSupported(cluster.onAnyNode(identity.featuresApi, undefined))
      transactionVersion = features?.get('transaction.version') ?? 0
      const { initProducerIdApi, initSuccessorApi } = transaction
      const api = request.successorOf === undefined ? initProducerIdApi : initSuccessorApi
      return onTransaction(api, { ...request, transactionalId })
    },
    hasTransactionalId: (request) => whereSupported(onTransaction(identity.describeTransactionsApi, request)),
    addPartitionsToTransaction: (request) => onTransaction(transaction.addPartitionsToTxnApi, request),
    commitOffsetsInTransaction: async (request) => {
      await onTransaction(transaction.addOffsetsToTxnApi, request)
      await onGroup(transaction.txnOffsetCommitApi, request)
    },
    endTransaction: async (request) => {
      const hasNewEpoch = transactionVersion >= EPOCH_OF_TRANSACTION
      const api = hasNewEpoch ? transaction.endTxnWithNewEpochApi : transaction.endTxnApi
      return (await onTransaction(api, request)) ?? { producerId: request.producerId, epoch: request.epoch }
    },

    joinGroup: (request) =>
      onGroup(group.joinGroupApi, request, {
        use: joining(cluster, request),
        // The coordinator may delay the response until the rebalance ends.
        limits: { ...cluster.apiLimits, timeoutMs: cluster.config.apiTimeoutMs + request.rebalanceTimeoutMs },
      }),
    // The coordinator responds when the leader has assigned the work. A member whose response is lost joins again, as in Java.
    syncGroup: (request) => {
      const { requestTimeoutMs: timeoutMs } = cluster.config
      const options = { waitMs: timeoutMs, timeoutMs }
      return onGroup(group.syncGroupApi, request, {
        use: (node) => cluster.onNodeLongPoll(node, group.syncGroupApi, request, options),
        limits: cluster.requestLimits,
      })
    },
    heartbeat: (request) => onGroup(group.heartbeatApi, request, { limits: cluster.shortLimits }),
    leaveGroup: (request) => onGroup(group.leaveGroupApi, request, { limits: cluster.shortLimits }),
    commitOffsets: (request) => onGroup(group.offsetCommitApi, request),
    groupOffsets: (request) => onGroup(group.offsetFetchApi, request),
    listGroups: async () => (await Promise.all(await cluster.onEveryNode(group.listGroupsApi, undefined))).flat(),
    describeGroup: async (request) => ({
      ...(await onGroup(group.describeGroupsApi, request)),
      groupId: request.groupId,
    }),
    deleteGroupOffsets: (request) => onGroup(group.offsetDeleteApi, request),
    deleteGroup: (request) => onGroup(group.deleteGroupsApi, request),
  }
}

function valuesOf(configs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(configs.map(({ name, value }) => [name, value]))
}

type GroupCallOptions<Response> = {
  readonly limits?: RetryLimits
  readonly use?: (node: number) => Promise<Response>
}

/** Undefined if the broker does not have the API. */
async function whereSupported<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'unsupported') return undefined
    throw error
  }
}

/**
 * The coordinator assigns a member id first and expects a second join with it (KIP-394). It is kept when the call is repeated, because
 * the coordinator may have admitted the member with it: another member would leave it in the group, and its share, until its session ends.
 */
function joining(cluster: KafkaCluster, request: BackendRequest<'joinGroup'>) {
  let { memberId } = request
  const { clientId, rebalanceTimeoutMs: waitMs } = request
  const timeoutMs = Math.max(cluster.config.requestTimeoutMs, waitMs + JOIN_GROUP_TIMEOUT_LAPSE_MS)
  const options = { waitMs, timeoutMs, ...(clientId === undefined ? {} : { clientId }) }
  const join = (node: number) => cluster.onNodeLongPoll(node, group.joinGroupApi, { ...request, memberId }, options)
  return async (node: number) => {
    const first = await join(node)
    memberId = first.memberId
    return first.needsMemberId ? join(node) : first
  }
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
    if (found?.error) throw BrokerError.of(found.error)
    throw new BrokerError('topic_not_found', `topic '${topic}' has no partition ${partition}`)
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
    if (error) throw BrokerError.of(error)
    return offset
  })
  // There is no record at or after the timestamp: use the end offset.
  const late = typeof request.at === 'number' ? offsets.filter(({ offset }) => offset < 0) : []
  if (late.length === 0) return offsets
  const ends = await listOffsets(cluster, { ...request, partitions: late, at: 'latest' })
  return [...offsets.filter(({ offset }) => offset >= 0), ...ends]
}
