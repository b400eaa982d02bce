import type { BackendRequest, ProducerIdentity, Transaction } from '../broker-backend.ts'
import { byTopic, type ProtocolWriter, readTopics, writeTopics } from '../protocol-primitives.ts'
import type { KafkaApi } from './kafka-api.ts'
import { throwOnError } from './kafka-error.ts'

/** APIs of producers and transactions. */

export const initProducerIdApi: KafkaApi<BackendRequest<'initProducer'>, ProducerIdentity> = {
  key: 22,
  name: 'InitProducerId',
  version: 1,
  write: (writer, { transactionalId, transactionTimeoutMs = 60_000 }) =>
    writer.string(transactionalId ?? null).int32(transactionTimeoutMs),
  read: (reader) => {
    reader.int32()
    throwOnError(reader.int16(), 'requesting a producer id')
    return { producerId: reader.bigint(), epoch: reader.int16() }
  },
}

export const addPartitionsToTxnApi: KafkaApi<BackendRequest<'addPartitionsToTransaction'>, void> = {
  key: 24,
  name: 'AddPartitionsToTxn',
  version: 1,
  write: (writer, request) => {
    writeTransaction(writer, request)
    writeTopics(writer, byTopic(request.partitions), ({ partition }) => writer.int32(partition))
  },
  read: (reader) => {
    reader.int32()
    readTopics(reader, (topic) => {
      const partition = reader.int32()
      throwOnError(reader.int16(), `adding ${topic}-${partition} to the transaction`)
    })
  },
}

export const addOffsetsToTxnApi: KafkaApi<Transaction & { readonly groupId: string }, void> = {
  key: 25,
  name: 'AddOffsetsToTxn',
  version: 1,
  write: (writer, request) => writeTransaction(writer, request).string(request.groupId),
  read: (reader) => {
    reader.int32()
    throwOnError(reader.int16(), 'adding offsets to the transaction')
  },
}

/** The flexible version, because only it includes the member, so that the commit of an expelled member is rejected. */
export const txnOffsetCommitApi: KafkaApi<BackendRequest<'commitOffsetsInTransaction'>, void> = {
  key: 28,
  name: 'TxnOffsetCommit',
  version: 3,
  isFlexible: true,
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
  read: (reader) => {
    reader.int32()
    reader.compactArray(() => {
      const topic = reader.compactString()
      reader.compactArray(() => {
        const partition = reader.int32()
        throwOnError(reader.int16(), `committing ${topic}-${partition} in the transaction`)
        reader.skipTags()
      })
      reader.skipTags()
    })
  },
}

export const endTxnApi: KafkaApi<BackendRequest<'endTransaction'>, void> = {
  key: 26,
  name: 'EndTxn',
  version: 1,
  write: (writer, request) => writeTransaction(writer, request).bool(request.commit),
  read: (reader) => {
    reader.int32()
    throwOnError(reader.int16(), 'ending the transaction')
  },
}

function writeTransaction(writer: ProtocolWriter, { transactionalId, producerId, epoch }: Transaction): ProtocolWriter {
  return writer.string(transactionalId).int64(producerId).int16(epoch)
}
