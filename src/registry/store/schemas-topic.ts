import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Broker, ProducerIdentity } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { openStateTopic, type StateWrite } from '../../broker/state-topic/state-topic.ts'
import type { StateProgress } from '../../broker/state-topic/state-topic-checks.ts'
import { type Clock, systemClock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { RegistryValues } from '../settings.ts'
import {
  claimRecord,
  type LeaderClaim,
  nextIdentity,
  parseClaim,
  type RetiredIds,
  replaceProducerId,
} from './leader-claim.ts'
import { evidenceOfLeader, registerLeader, rememberLeader } from './leader-evidence.ts'
import { NOOP_KEY, RecordCodec, UnreadableVersionError } from './record-codec.ts'
import type { RegistryRecord } from './registry-record.ts'
import type { ApplyResult, RegistryState } from './registry-state.ts'

export type SchemasTopicOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly clock?: Clock
  readonly settings: RegistryValues
  /** Topic configs, used when the topic is created. */
  readonly topicConfigs: Readonly<Record<string, string>>
  /** Called for every record that was applied or skipped. */
  readonly onRecord?: (applied: ApplyResult | 'unreadable', record?: RegistryRecord) => void
  /** Called once when the topic can no longer be read. The registry then has to stop. */
  readonly onFailed?: (error: Error) => void
  /** Commits the offset up to which the topic was read to the consumer group of the registry instances. */
  readonly saveProgress?: StateProgress['save']
}

/** Exclusive write access to the registry's topic. */
export type SchemasTopicWriter = {
  /** The identity of the producer. With it, other topics are fenced as well. */
  readonly identity: ProducerIdentity
  /**
   * Writes the records in order, in one batch, and resolves when the state contains them. Rejects with a `BrokerError`;
   * after that the writer must be replaced.
   */
  append(records: readonly Exclude<RegistryRecord, { kind: 'none' }>[]): Promise<void>
  close(): Promise<void>
}

export type SchemasTopic = {
  /** Fences the previous writer, and resolves when the state contains everything that it wrote. */
  openWriter(): Promise<SchemasTopicWriter>
  /** Resolves when the state contains every record that is in the topic at the time of the call. */
  refresh(): Promise<void>
  /** Why the state no longer follows the topic; undefined while it does. */
  readonly failure: Error | undefined
  close(): Promise<void>
}

/**
 * Opens the registry's topic and reads it into `state`; from then on the state follows the topic. Rejects with a
 * `BrokerError` if the topic does not meet the requirements (one partition, compacted) or cannot be read within
 * `brokerstore.init.timeout.ms`.
 */
export async function openSchemasTopic(
  state: RegistryState,
  {
    broker,
    logger,
    clock = systemClock,
    settings,
    topicConfigs,
    onRecord = () => {},
    onFailed = () => {},
    saveProgress,
  }: SchemasTopicOptions,
): Promise<SchemasTopic> {
  const codec = new RecordCodec()
  const transactionalId = `${settings['schema.registry.group.id']}-${settings['brokerstore.topic']}-leader`
  const timeoutMs = settings['brokerstore.timeout.ms']
  const name = settings['brokerstore.topic']
  let hasRecords = false
  let lastClaim: LeaderClaim | undefined
  let rejected: ProducerIdentity | undefined
  let remembering: Promise<void> | undefined
  const topic = await openStateTopic({
    broker,
    logger,
    clock,
    topic: {
      name,
      partitions: 1,
      replicationFactorMax: settings['brokerstore.topic.replication.factor'],
      replicationSetting: 'brokerstore.topic.replication.factor',
      configs: topicConfigs,
    },
    skipValidation: settings['brokerstore.topic.skip.validation'],
    openTimeoutMs: settings['brokerstore.init.timeout.ms'],
    appendTimeoutMs: timeoutMs,
    ...(saveProgress && {
      progress: { read: () => broker.groups.offsets(settings['schema.registry.group.id']), save: saveProgress },
    }),
    evidenceOfRecords: () => evidenceOfLeader(broker, transactionalId),
    decode: ({ key, value }) => codec.decode(key, value),
    apply: (record, { timestampMs, offset, value }) => {
      hasRecords = true
      if (record.kind === 'none') {
        lastClaim = parseClaim(value) ?? lastClaim
        state.reserveIds(lastClaim?.retiredIds ?? {})
      }
      const applied = state.apply(record, timestampMs)
      if (applied === 'id-conflict') {
        logger.error({ offset }, 'a record assigns another schema to an existing ID: it is skipped')
      }
      onRecord(applied, record)
    },
    onUnreadable: ({ error }) => {
      hasRecords = true
      if (error instanceof UnreadableVersionError) state.applyUnreadable(error.version)
      onRecord('unreadable')
    },
    onFailed: (error) => {
      // The broker expires unused transactional IDs. The next instance that starts must still find the evidence.
      if (hasRecords) remembering = rememberLeader(broker, transactionalId)
      onFailed(error)
    },
  })
  /** Writes with an identity, if this instance is the only one that claims it. */
  const claim = async (identity: ProducerIdentity): Promise<SchemasTopicWriter> => {
    const limits = { deliveryTimeoutMs: timeoutMs, maxBlockMs: timeoutMs }
    const producer = await broker.producer({ identity, ...limits, missingTopicMs: 0 })
    const write = async (records: readonly StateWrite[]) => {
      const inPartition = records.map((record) => ({ ...record, partition: 0 }))
      await topic.appendBy(producer, inPartition)
    }
    const nonce = randomUUID()
    const writeClaim = (retiredIds: RetiredIds) => write([claimRecord({ identity, nonce, retiredIds })])
    try {
      const retiredIds = state.retiredIds([])
      await writeClaim(retiredIds)
      if (lastClaim?.nonce !== nonce) throw new BrokerError('fenced', 'another instance became the leader')
      // The previous leader may have retired IDs until it was fenced. Compaction keeps only the last claim.
      if (!isDeepStrictEqual(state.retiredIds([]), retiredIds)) await writeClaim(state.retiredIds([]))
    } catch (error) {
      if (error instanceof BrokerError && error.code === 'fenced') rejected = identity
      await producer.close()
      throw error
    }
    return {
      identity,
      append: (records) => {
        const encoded = records.map((record) => codec.encode(record))
        const isReplacing = records.some((one) => one.kind === 'schema' && state.version(one.subject, one.version))
        if (!isReplacing) return write(encoded)
        const retiredIds = state.retiredIds(records)
        // In the same batch, so that compaction never removes the last record of an ID that was assigned.
        const isRetiring = Object.entries(retiredIds).some(([context, id]) => lastClaim?.retiredIds[context] !== id)
        return write(isRetiring ? [...encoded, claimRecord({ identity, nonce, retiredIds })] : encoded)
      },
      close: () => producer.close(),
    }
  }
  return {
    openWriter: async () => {
      // A known transactional ID is evidence that the topic had records. So the first record is written before it is registered.
      if (topic.positions()[0]?.offset === 0)
        await topic.append([{ key: Buffer.from(NOOP_KEY), value: null, partition: 0 }])
      const ofTransactionalId = await registerLeader(broker, transactionalId)
      await topic.readToEnd()
      const last = lastClaim?.identity
      const next = nextIdentity({ last, rejected, ofTransactionalId })
      if (next !== undefined) return claim(next)
      return claim(await (last ? replaceProducerId(broker, name, last) : broker.newProducerIdentity()))
    },
    refresh: () => topic.readToEnd(),
    get failure() {
      return topic.failure
    },
    close: async () => {
      await topic.close()
      await remembering
    },
  }
}
