import { randomUUID } from 'node:crypto'
import { type Clock, systemClock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { PartitionOffset, ProducerIdentity, TopicPartition } from '../broker.ts'
import type { DataFsync } from '../broker-address.ts'
import type {
  BackendRequest,
  BrokerBackend,
  PartitionError,
  ProduceResult,
  ReplicaSize,
  TopicMetadata,
} from '../broker-backend.ts'
import { BrokerError, type RightState } from '../broker-error.ts'
import { singleBatch } from '../record-batch/batch-header.ts'
import type { TopicConfigValues } from '../topic-description.ts'
import { BatchStore } from './batch-store.ts'
import { Fetcher } from './fetcher.ts'
import { GroupCoordinator } from './group-coordinator.ts'
import { LogCleaner } from './log-cleaner.ts'
import { Storage, type WriteTransaction } from './storage.ts'
import { TopicCatalog } from './topic-catalog.ts'
import type { TopicConfigs } from './topic-config.ts'
import { TransactionCoordinator } from './transaction-coordinator.ts'

export type EmbeddedBackendOptions = { readonly logger: Logger; readonly clock?: Clock; readonly fsync?: DataFsync }

/** The id of the single node. */
const NODE = 0
/** Resolution of session, rebalance and transaction timeouts. */
const TICK_MS = 100
const CLEANING_MS = 15_000
/** Bounds how old `broker.check` may be after a power cut. */
const MAINTENANCE_MS = 1_000

/**
 * A broker in this process with its data in `directory` (created if missing; `:memory:` for none).
 * `docs/adr/0003-embedded-storage.md` describes its durability.
 *
 * Rejects with `data_locked`, `data_newer`, `data_corrupt`, `disk_full` or `invalid_config`.
 */
export async function openEmbeddedBackend(directory: string, options: EmbeddedBackendOptions): Promise<BrokerBackend> {
  const { logger, clock = systemClock, fsync = 'checkpoint' } = options
  const storage = new Storage(directory, { nowMs: clock.nowMs(), logger, fsync })
  try {
    const transactions = new TransactionCoordinator(storage)
    const catalog = new TopicCatalog(storage)
    await abortLeftovers({ storage, transactions, catalog, logger })
    const clusterId = readClusterId(storage) ?? (await storage.write(() => makeClusterId(storage)))
    return new EmbeddedBackend({ storage, transactions, catalog, clusterId, logger, clock })
  } catch (error) {
    storage.close()
    throw error
  }
}

type EmbeddedBackendDependencies = {
  readonly storage: Storage
  readonly transactions: TransactionCoordinator
  readonly catalog: TopicCatalog
  readonly clusterId: string
  readonly logger: Logger
  readonly clock: Clock
}

class EmbeddedBackend implements BrokerBackend {
  readonly #storage: Storage
  readonly #transactions: TransactionCoordinator
  readonly #clusterId: string
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #catalog: TopicCatalog
  readonly #batches: BatchStore
  readonly #groups: GroupCoordinator
  readonly #fetcher: Fetcher
  readonly #closing = new AbortController()
  /** Logged once, because every tick retries. */
  #hasAbortFailed = false
  readonly #working: Promise<unknown>

  constructor({ storage, transactions, catalog, clusterId, logger, clock }: EmbeddedBackendDependencies) {
    this.#storage = storage
    this.#transactions = transactions
    this.#clusterId = clusterId
    this.#logger = logger
    this.#clock = clock
    this.#catalog = catalog
    this.#batches = new BatchStore(storage)
    this.#groups = new GroupCoordinator({ storage, logger, nowMs: () => clock.monotonicMs() })
    this.#fetcher = new Fetcher({ catalog: this.#catalog, log: this.#batches, clock })
    const cleaner = new LogCleaner({ storage, catalog: this.#catalog, clock, logger })
    const { signal } = this.#closing
    this.#working = Promise.all([
      this.#every(TICK_MS, () => this.#tick()),
      this.#every(CLEANING_MS, () => cleaner.run(signal)),
      this.#every(MAINTENANCE_MS, async () => storage.runMaintenance()),
    ])
  }

  async clusterId(): Promise<string> {
    return this.#clusterId
  }

  /** Nobody is restricted: who reaches it is this process, or a command of the same user. */
  async checkRights({ rights }: BackendRequest<'checkRights'>): Promise<readonly RightState[]> {
    this.#checkOpen()
    return rights.map(() => 'granted')
  }

  async metadata({ topics }: BackendRequest<'metadata'>): Promise<readonly TopicMetadata[]> {
    this.#checkOpen()
    const requested = topics === undefined ? this.#catalog.topics() : topics.map((name) => this.#catalog.find(name))
    return requested
      .filter((topic) => topic !== undefined)
      .map(({ name, partitions }) => ({
        topic: name,
        internal: false,
        partitions: partitions.map(({ number }) => ({ partition: number, leader: NODE, replicas: 1 })),
      }))
  }

  /** Partition ids are never reused. */
  async topicId({ topic }: BackendRequest<'topicId'>): Promise<string | undefined> {
    this.#checkOpen()
    return this.#catalog.find(topic)?.partitions[0]?.id.toString()
  }

  createTopic(request: BackendRequest<'createTopic'>): Promise<boolean> {
    return this.#storage.write((change) => this.#catalog.create(request, change))
  }

  deleteTopic({ topic }: BackendRequest<'deleteTopic'>): Promise<void> {
    return this.#storage.write((change) => {
      const { partitions } = this.#catalog.delete(topic, change)
      this.#transactions.dropPartitions(partitions, change)
    })
  }

  addPartitions({ topic, total }: BackendRequest<'addPartitions'>): Promise<void> {
    return this.#storage.write((change) => this.#catalog.addPartitions(topic, total, change))
  }

  async topicConfigs({ topic, isOwn = false }: BackendRequest<'topicConfigs'>): Promise<TopicConfigs> {
    this.#checkOpen()
    return isOwn ? this.#catalog.topic(topic).configs : this.#catalog.configs(topic)
  }

  async topicConfigValues({
    topics,
    names,
  }: BackendRequest<'topicConfigValues'>): Promise<readonly TopicConfigValues[]> {
    this.#checkOpen()
    return topics.map((topic) => {
      const found = this.#catalog.find(topic)
      const error = { code: 'topic_not_found', message: `topic '${topic}' does not exist` } as const
      if (found === undefined) return { topic, values: {}, error }
      const values = Object.entries(this.#catalog.configs(topic)).filter(([name]) => names.includes(name))
      return { topic, values: Object.fromEntries(values) }
    })
  }

  async replicaSizes({ partitions }: BackendRequest<'replicaSizes'>): Promise<readonly ReplicaSize[]> {
    const sizes: ReplicaSize[] = []
    for (const { topic, partition: number } of partitions) {
      this.#checkOpen()
      const partition = this.#catalog.find(topic)?.partitions[number]
      if (partition) sizes.push({ topic, partition: number, bytes: await this.#batches.sizeOf(partition) })
    }
    return sizes
  }

  setTopicConfigs({ topic, configs }: BackendRequest<'setTopicConfigs'>): Promise<void> {
    return this.#storage.write((change) => this.#catalog.setConfigs(topic, configs, change))
  }

  async listOffsets(request: BackendRequest<'listOffsets'>): Promise<readonly PartitionOffset[]> {
    this.#checkOpen()
    return Promise.all(
      request.partitions.map(async ({ topic, partition: number }) => {
        const partition = this.#catalog.partition({ topic, partition: number })
        const endOffset = request.isolation === 'read_committed' ? partition.stableOffset : partition.endOffset
        if (request.at === 'earliest') return { topic, partition: number, offset: partition.startOffset }
        if (request.at === 'latest') return { topic, partition: number, offset: endOffset }
        return { topic, partition: number, offset: await this.#batches.offsetAt(partition, request.at, endOffset) }
      }),
    )
  }

  produce(request: BackendRequest<'produce'>): Promise<readonly ProduceResult[]> {
    const nowMs = this.#clock.nowMs()
    return this.#storage.write((change) =>
      request.batches.map((batch) => this.#append(batch, request.transactionalId, { nowMs, change })),
    )
  }

  fetch(request: BackendRequest<'fetch'>): ReturnType<BrokerBackend['fetch']> {
    return this.#fetcher.fetch(request)
  }

  initProducer(request: BackendRequest<'initProducer'>): ReturnType<BrokerBackend['initProducer']> {
    const { transactionalId, transactionTimeoutMs: timeoutMs, successorOf } = request
    return this.#storage.write((change) =>
      transactionalId === undefined
        ? this.#transactions.newProducer()
        : this.#transactions.init({ name: transactionalId, timeoutMs, successorOf }, change),
    )
  }

  async hasTransactionalId({ transactionalId }: BackendRequest<'hasTransactionalId'>): Promise<boolean> {
    this.#checkOpen()
    return this.#transactions.hasTransactionalId(transactionalId)
  }

  addPartitionsToTransaction(request: BackendRequest<'addPartitionsToTransaction'>): Promise<void> {
    return this.#storage.write((change) => {
      const partitions = request.partitions.map((at) => this.#catalog.partition(at))
      this.#transactions.addPartitions(request, partitions, { nowMs: this.#clock.monotonicMs(), change })
    })
  }

  commitOffsetsInTransaction(request: BackendRequest<'commitOffsetsInTransaction'>): Promise<void> {
    return this.#storage.write((change) => {
      this.#checkPartitions(request.offsets)
      if (request.member !== undefined) this.#groups.checkCommit(request.groupId, request.member)
      const at = { nowMs: this.#clock.monotonicMs(), change }
      this.#transactions.addOffsets(request, request.groupId, request.offsets, at)
    })
  }

  endTransaction(request: BackendRequest<'endTransaction'>): Promise<ProducerIdentity> {
    return this.#storage.write((change) => this.#transactions.end(request, request.commit, change))
  }

  async joinGroup(request: BackendRequest<'joinGroup'>): ReturnType<BrokerBackend['joinGroup']> {
    this.#checkOpen()
    return this.#groups.join(request)
  }

  async syncGroup(request: BackendRequest<'syncGroup'>): Promise<Uint8Array> {
    this.#checkOpen()
    return this.#groups.sync(request)
  }

  async heartbeat(request: BackendRequest<'heartbeat'>): Promise<void> {
    this.#checkOpen()
    this.#groups.heartbeat(request)
  }

  async leaveGroup(request: BackendRequest<'leaveGroup'>): Promise<void> {
    this.#checkOpen()
    this.#groups.leave(request)
  }

  commitOffsets(request: BackendRequest<'commitOffsets'>): Promise<void> {
    return this.#storage.write(() => {
      this.#checkPartitions(request.offsets)
      this.#groups.commit(request.groupId, request.offsets, request.member)
    })
  }

  async groupOffsets(request: BackendRequest<'groupOffsets'>): ReturnType<BrokerBackend['groupOffsets']> {
    this.#checkOpen()
    const { groupId, partitions = [], settled } = request
    if (settled) this.#transactions.assertNoPendingOffsets(groupId, partitions)
    return this.#groups.offsets(groupId, request.partitions)
  }

  async listGroups(): ReturnType<BrokerBackend['listGroups']> {
    this.#checkOpen()
    return this.#groups.list()
  }

  async describeGroup({ groupId }: BackendRequest<'describeGroup'>): ReturnType<BrokerBackend['describeGroup']> {
    this.#checkOpen()
    return this.#groups.describe(groupId)
  }

  deleteGroupOffsets(request: BackendRequest<'deleteGroupOffsets'>): Promise<void> {
    return this.#storage.write(() => this.#groups.deleteOffsets(request.groupId, request.partitions))
  }

  deleteGroup({ groupId }: BackendRequest<'deleteGroup'>): Promise<void> {
    return this.#storage.write((change) => this.#groups.delete(groupId, change))
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return void (await this.#working)
    this.#closing.abort()
    this.#groups.close()
    this.#fetcher.close()
    await this.#working
    this.#storage.close()
  }

  #append(
    batch: TopicPartition & { readonly bytes: Uint8Array },
    transactionalId: string | undefined,
    at: { readonly nowMs: number; readonly change: WriteTransaction },
  ): ProduceResult {
    const topicPartition = { topic: batch.topic, partition: batch.partition }
    try {
      const partition = this.#catalog.partition(batch)
      const { bytes } = batch
      const append = { topic: this.#catalog.topic(batch.topic), partition, bytes, nowMs: at.nowMs }
      if (transactionalId === undefined)
        return { ...topicPartition, baseOffset: this.#batches.append(append, at.change) }
      const { producerId, producerEpoch: epoch } = singleBatch(bytes)
      this.#transactions.checkAppend(transactionalId, { producerId, epoch }, partition)
      return { ...topicPartition, baseOffset: this.#batches.append({ ...append, transactionalId }, at.change) }
    } catch (error) {
      return { ...topicPartition, baseOffset: -1, error: toPartitionError(error) }
    }
  }

  #checkPartitions(partitions: readonly TopicPartition[]): void {
    for (const at of partitions) this.#catalog.partition(at)
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw new BrokerError('closed', 'the embedded broker is closed')
  }

  /** Runs until closed; `work` must not reject. */
  async #every(ms: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await work()
      await this.#clock.sleep(ms, signal).catch(() => {})
    }
  }

  /** Expires sessions, rebalances and transactions. */
  async #tick(): Promise<void> {
    this.#groups.tick()
    await this.#abortExpired()
  }

  async #abortExpired(): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    if (!this.#transactions.hasExpired(nowMs)) return
    try {
      const names = await this.#storage.write((change) => this.#transactions.abortExpired(nowMs, change))
      this.#hasAbortFailed = false
      this.#logger.warn({ transactionalIds: names }, 'aborted transactions that timed out')
    } catch (error) {
      if (!this.#hasAbortFailed) this.#logger.warn({ err: error }, 'cannot abort transactions that timed out, retrying')
      this.#hasAbortFailed = true
    }
  }
}

/** Rethrows other errors, so that the whole write fails. */
function toPartitionError(error: unknown): PartitionError {
  if (error instanceof BrokerError) return { code: error.code, message: error.message }
  throw error
}

/** Stands for the producers of transactions that a crashed process left open. No producer has this id. */
const DEAD_PRODUCER = -2n

/** Hides open transactions of a crashed process from readers, also while a full disk prevents their removal. */
async function abortLeftovers({
  storage,
  transactions,
  catalog,
  logger,
}: Pick<EmbeddedBackendDependencies, 'storage' | 'transactions' | 'catalog' | 'logger'>): Promise<void> {
  const leftovers = transactions.unfinishedTransactions()
  if (leftovers.size === 0) return
  const partitions = catalog.topics().flatMap((topic) => topic.partitions.filter(({ id }) => leftovers.has(id)))
  for (const partition of partitions) partition.openTransactions.set(DEAD_PRODUCER, leftovers.get(partition.id)!)
  await storage.writeFirst((change) => {
    const batches = transactions.abortUnfinished()
    change.onCommit(() => {
      logger.warn({ batches }, 'aborted transactions that a crashed process left open')
      for (const partition of partitions) {
        partition.openTransactions.delete(DEAD_PRODUCER)
        partition.notifyListeners()
      }
    })
  })
}

function readClusterId(storage: Storage): string | undefined {
  const row = storage.guarded(() => storage.prepare("select value from settings where name = 'cluster_id'").get())
  return row === undefined ? undefined : String(row['value'])
}

function makeClusterId(storage: Storage): string {
  const generated = Buffer.from(randomUUID().replaceAll('-', ''), 'hex').toString('base64url')
  storage.prepare("insert into settings (name, value) values ('cluster_id', ?)").run(generated)
  return generated
}
