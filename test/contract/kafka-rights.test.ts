import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { BrokerBackend } from '../../src/broker/broker-backend.ts'
import { type AccessRight, BrokerError, formatRight } from '../../src/broker/broker-error.ts'
import * as adminApis from '../../src/broker/kafka/admin-apis.ts'
import * as groupApis from '../../src/broker/kafka/group-apis.ts'
import * as identityApis from '../../src/broker/kafka/identity-apis.ts'
import type { KafkaApi } from '../../src/broker/kafka/kafka-api.ts'
import { openKafkaBackend } from '../../src/broker/kafka/kafka-backend.ts'
import * as logApis from '../../src/broker/kafka/produce-fetch-apis.ts'
import * as transactionApis from '../../src/broker/kafka/transaction-apis.ts'
import { encodeBatch } from '../../src/broker/record-batch/record-batch.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { describeOn, real } from '../env/real.ts'
import { type KafkaWithAcls, loginOf, startKafkaWithAcls } from '../support/acls.ts'

const kafka = await real('kafka')
const logger = silentLogger()
const USER = 'client'

const partition = { topic: 'orders', partition: 0 }
const offsets = [{ ...partition, offset: 0 }]
const groupId = 'shop'
const transactionalId = 'payments'
const transaction = { transactionalId, producerId: 1n, epoch: 0 }
const member = { memberId: 'm', generation: 1 }

const batches = async (transactional: boolean) => {
  const producer = { producerId: 1n, epoch: 0, baseSequence: 0 }
  const record = { key: null, value: Buffer.from('a'), headers: [] }
  return [{ ...partition, bytes: await encodeBatch([record], { nowMs: 0, producer, transactional }) }]
}

/** The rights in the order in which the broker reports that they are missing: as one is granted, the next one is. */
type Case = [
  apis: string,
  rights: readonly string[],
  call: (backend: BrokerBackend) => Promise<unknown>,
  granted?: AccessRight,
]

const CASES: Case[] = [
  ['Metadata', ['DESCRIBE on topic orders'], (backend) => backend.metadata({ topics: ['orders'] })],
  ['CreateTopics', ['CREATE on cluster or topic new'], (backend) => backend.createTopic({ name: 'new' })],
  ['DeleteTopics', ['DELETE on topic none'], (backend) => backend.deleteTopic({ topic: 'none' })],
  ['CreatePartitions', ['ALTER on topic orders'], (backend) => backend.addPartitions({ topic: 'orders', total: 2 })],
  ['DescribeConfigs', ['DESCRIBE_CONFIGS on topic orders'], (backend) => backend.topicConfigs({ topic: 'orders' })],
  [
    'DescribeConfigs',
    ['DESCRIBE_CONFIGS on topic orders'],
    async (backend) => errorIn(await backend.topicConfigValues({ topics: ['orders'], names: ['retention.ms'] })),
  ],
  ['DescribeLogDirs', ['DESCRIBE on cluster'], (backend) => backend.replicaSizes({ partitions: [partition] })],
  [
    'IncrementalAlterConfigs',
    ['ALTER_CONFIGS on topic orders'],
    (backend) => backend.setTopicConfigs({ topic: 'orders', configs: { 'retention.ms': '1000' } }),
  ],
  [
    'ListOffsets',
    ['DESCRIBE on topic orders'],
    (backend) =>
      backend.listOffsets({ partitions: [{ ...partition, leader: 1 }], at: 'latest', isolation: 'read_committed' }),
  ],
  [
    'Produce',
    ['WRITE on topic orders'],
    async (backend) => errorIn(await backend.produce({ node: 1, batches: await batches(false), timeoutMs: 1_000 })),
  ],
  [
    'Produce',
    ['WRITE on transactional id payments', 'WRITE on topic orders'],
    async (backend) => {
      const request = { node: 1, batches: await batches(true), timeoutMs: 1_000, transactionalId }
      return errorIn(await backend.produce(request))
    },
  ],
  [
    'Fetch',
    ['READ on topic orders'],
    async (backend) => {
      const limits = { waitMsMax: 0, bytesMin: 0, bytesMax: 1_000 }
      return errorIn(await backend.fetch({ node: 1, partitions: offsets, isolation: 'read_committed', ...limits }))
    },
  ],
  ['InitProducerId', ['IDEMPOTENT_WRITE on cluster or WRITE on a topic'], (backend) => backend.initProducer({})],
  [
    'InitProducerId',
    ['WRITE on transactional id payments'],
    (backend) => backend.initProducer({ transactionalId, transactionTimeoutMs: 1_000 }),
  ],
  [
    'DescribeTransactions',
    ['DESCRIBE on transactional id payments'],
    (backend) => backend.hasTransactionalId({ transactionalId }),
  ],
  [
    'AddPartitionsToTxn',
    ['WRITE on transactional id payments', 'WRITE on topic orders'],
    (backend) =>
      backend.addPartitionsToTransaction({ ...transaction, partitions: [{ topic: 'open', partition: 0 }, partition] }),
    { operation: 'WRITE', resourceType: 'topic', resourceName: 'open' },
  ],
  [
    'AddOffsetsToTxn TxnOffsetCommit',
    ['WRITE on transactional id payments', 'READ on group shop', 'READ on topic orders'],
    (backend) => backend.commitOffsetsInTransaction({ ...transaction, groupId, offsets }),
  ],
  [
    'EndTxn',
    ['WRITE on transactional id payments'],
    (backend) => backend.endTransaction({ ...transaction, commit: true }),
  ],
  [
    'FindCoordinator JoinGroup',
    ['READ on group shop'],
    (backend) =>
      backend.joinGroup({
        groupId,
        protocolType: 'sr',
        protocols: [{ name: 'v0', metadata: Buffer.alloc(0) }],
        sessionTimeoutMs: 6_000,
        rebalanceTimeoutMs: 6_000,
        memberId: 'm',
      }),
  ],
  ['SyncGroup', ['READ on group shop'], (backend) => backend.syncGroup({ groupId, ...member, assignments: [] })],
  ['Heartbeat', ['READ on group shop'], (backend) => backend.heartbeat({ groupId, ...member })],
  ['LeaveGroup', ['READ on group shop'], (backend) => backend.leaveGroup({ groupId, memberId: 'm' })],
  [
    'OffsetCommit',
    ['READ on group shop', 'READ on topic orders'],
    (backend) => backend.commitOffsets({ groupId, offsets }),
  ],
  [
    'OffsetFetch',
    ['DESCRIBE on group shop', 'DESCRIBE on topic orders'],
    (backend) => backend.groupOffsets({ groupId, partitions: [partition] }),
  ],
  // A client without the right sees no groups.
  ['ListGroups', [], (backend) => backend.listGroups()],
  ['DescribeGroups', ['DESCRIBE on group shop'], (backend) => backend.describeGroup({ groupId })],
  [
    'OffsetDelete',
    ['DELETE on group shop', 'READ on topic orders'],
    (backend) => backend.deleteGroupOffsets({ groupId, partitions: [partition] }),
  ],
  ['DeleteGroups', ['DELETE on group shop'], (backend) => backend.deleteGroup({ groupId })],
]

async function errorIn(results: readonly { readonly error?: Parameters<typeof BrokerError.of>[0] }[]): Promise<void> {
  for (const { error } of results) if (error) throw BrokerError.of(error)
}

describeOn([kafka], 'a client without rights', () => {
  let server: KafkaWithAcls
  let backend: BrokerBackend

  beforeAll(async () => {
    server = await startKafkaWithAcls([USER])
    const admin = await openKafkaBackend({ 'bootstrap.servers': server.bootstrap }, { logger })
    for (const name of ['orders', 'open']) await admin.createTopic({ name })
    await admin.close()
    backend = await openKafkaBackend({ 'bootstrap.servers': server.restricted, ...loginOf(USER) }, { logger })
  })
  afterAll(async () => {
    await backend?.close()
    await server?.stop()
  })
  beforeEach(() => server.acls.revokeAll(USER))

  it.each<Case>(CASES)('is told by %s that it needs %j, and that is enough', async (_, rights, call, granted) => {
    if (granted) await server.acls.grant(USER, [granted])
    const needed: string[] = []
    for (;;) {
      const right = await missingRight(call(backend))
      if (right === undefined) break
      needed.push(formatRight(right))
      await server.acls.grant(USER, [right])
    }
    expect(needed).toEqual(rights)
  })
})

it('every API of the protocol is called by a test that finds the rights it needs', () => {
  const modules = [adminApis, groupApis, identityApis, logApis, transactionApis]
  const apis = modules.flatMap((module) => Object.values<unknown>(module)).filter(isApi)
  const needed = new Set(apis.filter(({ name }) => name !== 'ApiVersions').map(({ name }) => name))
  expect([...new Set(CASES.flatMap(([names]) => names.split(' ')))].sort()).toEqual([...needed].sort())
})

function isApi(value: unknown): value is KafkaApi<unknown, unknown> {
  return typeof value === 'object' && value !== null && 'rights' in value
}

/** Undefined unless the call is rejected for a missing right. Fails if the right is not named. */
async function missingRight(call: Promise<unknown>): Promise<AccessRight | undefined> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof BrokerError) || error.code !== 'not_authorized') return undefined
  expect(error.right).toBeDefined()
  expect(error.message).toMatch(
    new RegExp(`: \\w+_AUTHORIZATION_FAILED: the client needs ${formatRight(error.right!)}$`),
  )
  return error.right
}
