import type { ProducerIdentity } from '../broker.ts'
import type { BackendRequest, Transaction } from '../broker-backend.ts'
import { byTopic, type ProtocolWriter, readTopics, writeTopics } from '../protocol-primitives.ts'
import type { KafkaApi } from './kafka-api.ts'

/** APIs of producers and transactions. */

export const initProducerIdApi: KafkaApi<BackendRequest<'initProducer'>, ProducerIdentity> = {
  key: 22,
  name: 'InitProducerId',
  version: 1,
  rights: ({ transactionalId }) =>
    transactionalId === undefined ? { cluster: 'IDEMPOTENT_WRITE' } : { transactionalId: ['WRITE', transactionalId] },
  write: (writer, { transactionalId, transactionTimeoutMs = 60_000 }) =>
    writer.string(transactionalId ?? null).int32(transactionTimeoutMs),
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'requesting a producer id')
    return { producerId: reader.bigInt64(), epoch: reader.int16() }
  },
}

/** Only for a request with `successorOf` (KIP-360). Brokers without this version give a new epoch to any producer. */
export const initSuccessorApi: KafkaApi<BackendRequest<'initProducer'>, ProducerIdentity> = {
  ...initProducerIdApi,
  newer: {
    ...initProducerIdApi,
    version: 3,
    isFlexible: true,
    write: (writer, { transactionalId, transactionTimeoutMs = 60_000, successorOf }) =>
      writer
        .compactString(transactionalId ?? null)
        .int32(transactionTimeoutMs)
        .int64(successorOf?.producerId ?? -1n)
        .int16(successorOf?.epoch ?? -1)
        .noTags(),
  },
}

const OPERATION_NOT_ATTEMPTED = 55

export const addPartitionsToTxnApi: KafkaApi<BackendRequest<'addPartitionsToTransaction'>, void> = {
  key: 24,
  name: 'AddPartitionsToTxn',
  version: 1,
  rights: ({ transactionalId }) => ({ transactionalId: ['WRITE', transactionalId], topic: 'WRITE' }),
  write: (writer, request) => {
    writeTransaction(writer, request)
    writeTopics(writer, byTopic(request.partitions), ({ partition }) => writer.int32(partition))
  },
  read: (reader, errors) => {
    reader.int32()
    const added = readTopics(reader, (topic) => {
      const partition = reader.int32()
      return { topic, partition, errorNumber: reader.int16() }
    })
    // Unless each partition can be added, none is. The error of the one that cannot be added is the reason.
    const failed = added.filter(({ errorNumber }) => errorNumber !== 0)
    const reason = failed.find(({ errorNumber }) => errorNumber !== OPERATION_NOT_ATTEMPTED) ?? failed[0]
    if (reason === undefined) return
    const { topic, partition, errorNumber } = reason
    errors.check(errorNumber, `adding ${topic}-${partition} to the transaction`, { topic })
  },
}

export const addOffsetsToTxnApi: KafkaApi<Transaction & { readonly groupId: string }, void> = {
  key: 25,
  name: 'AddOffsetsToTxn',
  version: 1,
  rights: ({ transactionalId, groupId }) => ({ transactionalId: ['WRITE', transactionalId], group: ['READ', groupId] }),
  write: (writer, request) => writeTransaction(writer, request).string(request.groupId),
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'adding offsets to the transaction')
  },
}

/** The flexible version, because only it includes the member, so that the commit of an expelled member is rejected. */
export const txnOffsetCommitApi: KafkaApi<BackendRequest<'commitOffsetsInTransaction'>, void> = {
  key: 28,
  name: 'TxnOffsetCommit',
  version: 3,
  isFlexible: true,
  rights: ({ transactionalId, groupId }) => ({
    transactionalId: ['WRITE', transactionalId],
    group: ['READ', groupId],
    topic: 'READ',
  }),
  write: (writer, { transactionalId, groupId, producerId, epoch, member, offsets }) =>
    writer
      .compactString(transactionalId)
      .compactString(groupId)
      .int64(producerId)
      .int16(epoch)
      .int32(member?.generation ?? -1)
      .compactString(member?.memberId ?? '')
      .compactString(member?.instanceId ?? null)
      .compactArray(byTopic(offsets), ({ topic, partitions }) =>
        writer
          .compactString(topic)
          .compactArray(partitions, ({ partition, offset, metadata }) =>
            writer
              .int32(partition)
              .int64(offset)
              .int32(-1)
              .compactString(metadata ?? '')
              .noTags(),
          )
          .noTags(),
      )
      .noTags(),
  read: (reader, errors) => {
    reader.int32()
    reader.compactArray(() => {
      const topic = reader.compactString()
      reader.compactArray(() => {
        const partition = reader.int32()
        errors.check(reader.int16(), `committing ${topic}-${partition} in the transaction`, { topic })
        reader.skipTags()
      })
      reader.skipTags()
    })
  },
}

/** The response has the next identity of the producer only in later versions. */
type EndTxnApi = KafkaApi<BackendRequest<'endTransaction'>, ProducerIdentity | undefined>

export const endTxnApi: EndTxnApi = {
  key: 26,
  name: 'EndTxn',
  version: 1,
  rights: ({ transactionalId }) => ({ transactionalId: ['WRITE', transactionalId] }),
  write: (writer, request) => writeTransaction(writer, request).bool(request.commit),
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'ending the transaction')
    return undefined
  },
}

/** Only for clusters with level 2 of the feature `transaction.version`: the producer gets another epoch (KIP-890). */
export const endTxnWithNewEpochApi: EndTxnApi = {
  ...endTxnApi,
  newer: {
    ...endTxnApi,
    version: 5,
    isFlexible: true,
    write: (writer, { transactionalId, producerId, epoch, commit }) =>
      writer.compactString(transactionalId).int64(producerId).int16(epoch).bool(commit).noTags(),
    read: (reader, errors) => {
      reader.int32()
      errors.check(reader.int16(), 'ending the transaction')
      return { producerId: reader.bigInt64(), epoch: reader.int16() }
    },
  },
}

function writeTransaction(writer: ProtocolWriter, { transactionalId, producerId, epoch }: Transaction): ProtocolWriter {
  return writer.string(transactionalId).int64(producerId).int16(epoch)
}
