import type { CommittedOffset, GroupDescription } from '../broker.ts'
import type { BackendRequest, JoinResult } from '../broker-backend.ts'
import { byTopic, type ProtocolReader, readTopics, writeTopics } from '../protocol-primitives.ts'
import type { KafkaApi } from './kafka-api.ts'
import { MEMBER_ID_REQUIRED } from './kafka-error.ts'
import type { ResponseErrors } from './response-errors.ts'

/** APIs of groups and their committed offsets. */

export const GROUP_COORDINATOR = 0
export const TRANSACTION_COORDINATOR = 1

export type Coordinator = {
  readonly errorNumber: number
  readonly message: string | null
  readonly node: number
  readonly host: string
  readonly port: number
}

export const findCoordinatorApi: KafkaApi<{ readonly key: string; readonly type: number }, Coordinator> = {
  key: 10,
  name: 'FindCoordinator',
  version: 2,
  rights: ({ key, type }) =>
    type === GROUP_COORDINATOR ? { group: ['DESCRIBE', key] } : { transactionalId: ['DESCRIBE', key] },
  write: (writer, { key, type }) => writer.string(key).int8(type),
  // The caller converts the error: it knows for which call the coordinator is needed.
  read: (reader) => {
    reader.int32()
    return {
      errorNumber: reader.int16(),
      message: reader.nullableString(),
      node: reader.int32(),
      host: reader.string(),
      port: reader.int32(),
    }
  },
}

export const joinGroupApi: KafkaApi<BackendRequest<'joinGroup'>, JoinResult & { readonly needsMemberId: boolean }> = {
  key: 11,
  name: 'JoinGroup',
  version: 5,
  rights: ({ groupId }) => ({ group: ['READ', groupId] }),
  write: (writer, request) =>
    writer
      .string(request.groupId)
      .int32(request.sessionTimeoutMs)
      .int32(request.rebalanceTimeoutMs)
      .string(request.memberId)
      .string(request.instanceId ?? null)
      .string(request.protocolType)
      .array(request.protocols, ({ name, metadata }) => writer.string(name).data(metadata)),
  read: (reader, errors) => {
    reader.int32()
    const errorNumber = reader.int16()
    const needsMemberId = errorNumber === MEMBER_ID_REQUIRED
    if (!needsMemberId) errors.check(errorNumber, `joining group '${errors.groupId}'`)
    const generation = reader.int32()
    const protocol = reader.string()
    const leaderId = reader.string()
    const memberId = reader.string()
    const members = reader.array(() => ({
      memberId: reader.string(),
      ...readInstance(reader),
      metadata: reader.data(),
    }))
    return { needsMemberId, generation, protocol, leaderId, memberId, members }
  },
}

export const syncGroupApi: KafkaApi<BackendRequest<'syncGroup'>, Uint8Array> = {
  key: 14,
  name: 'SyncGroup',
  version: 3,
  rights: ({ groupId }) => ({ group: ['READ', groupId] }),
  write: (writer, { groupId, generation, memberId, instanceId, assignments }) =>
    writer
      .string(groupId)
      .int32(generation)
      .string(memberId)
      .string(instanceId ?? null)
      .array(assignments, (share) => writer.string(share.memberId).data(share.assignment)),
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'synchronizing with the group')
    return reader.data()
  },
}

export const heartbeatApi: KafkaApi<BackendRequest<'heartbeat'>, void> = {
  key: 12,
  name: 'Heartbeat',
  version: 3,
  rights: ({ groupId }) => ({ group: ['READ', groupId] }),
  write: (writer, { groupId, generation, memberId, instanceId }) =>
    writer
      .string(groupId)
      .int32(generation)
      .string(memberId)
      .string(instanceId ?? null),
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'heartbeat')
  },
}

export const leaveGroupApi: KafkaApi<BackendRequest<'leaveGroup'>, void> = {
  key: 13,
  name: 'LeaveGroup',
  version: 3,
  rights: ({ groupId }) => ({ group: ['READ', groupId] }),
  write: (writer, { groupId, ...member }) =>
    writer
      .string(groupId)
      .array([member], ({ memberId, instanceId }) => writer.string(memberId).string(instanceId ?? null)),
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'leaving the group')
    reader.array(() => {
      const memberId = reader.string()
      reader.nullableString()
      errors.check(reader.int16(), `leaving the group as ${memberId}`)
    })
  },
}

export const offsetCommitApi: KafkaApi<BackendRequest<'commitOffsets'>, void> = {
  key: 8,
  name: 'OffsetCommit',
  version: 7,
  rights: ({ groupId }) => ({ group: ['READ', groupId], topic: 'READ' }),
  write: (writer, { groupId, offsets, member }) => {
    writer
      .string(groupId)
      .int32(member?.generation ?? -1)
      .string(member?.memberId ?? '')
      .string(member?.instanceId ?? null)
    writeTopics(writer, byTopic(offsets), ({ partition, offset, metadata }) =>
      writer
        .int32(partition)
        .int64(offset)
        .int32(-1)
        .string(metadata ?? ''),
    )
  },
  read: (reader, errors) => {
    reader.int32()
    readTopics(reader, (topic) => {
      const partition = reader.int32()
      errors.check(reader.int16(), `committing ${topic}-${partition}`, { topic })
    })
  },
}

/** The flexible version, because only it reports that an open transaction may change the offsets. */
export const offsetFetchApi: KafkaApi<BackendRequest<'groupOffsets'>, readonly CommittedOffset[]> = {
  key: 9,
  name: 'OffsetFetch',
  version: 7,
  isFlexible: true,
  rights: ({ groupId }) => ({ group: ['DESCRIBE', groupId], topic: 'DESCRIBE' }),
  write: (writer, { groupId, partitions, settled = false }) => {
    writer.compactString(groupId).compactArray(partitions && byTopic(partitions), (of) =>
      writer
        .compactString(of.topic)
        .compactArray(of.partitions, ({ partition }) => writer.int32(partition))
        .noTags(),
    )
    writer.bool(settled).noTags()
  },
  read: (reader, errors) => {
    reader.int32()
    const offsets = reader.compactArray(() => {
      const topic = reader.compactString()
      const found = reader.compactArray(() => {
        const partition = reader.int32()
        const offset = reader.int64()
        reader.int32()
        const metadata = reader.compactString()
        errors.check(reader.int16(), `committed offset of ${topic}-${partition}`, { topic })
        reader.skipTags()
        return { topic, partition, offset, ...(metadata === '' ? {} : { metadata }) }
      })
      reader.skipTags()
      return found
    })
    errors.check(reader.int16(), 'committed offsets')
    return offsets.flat().filter(({ offset }) => offset >= 0)
  },
}

export const listGroupsApi: KafkaApi<void, readonly { readonly groupId: string; readonly protocolType: string }[]> = {
  key: 16,
  name: 'ListGroups',
  version: 2,
  rights: () => ({ cluster: 'DESCRIBE' }),
  write: () => undefined,
  read: (reader, errors) => {
    reader.int32()
    errors.check(reader.int16(), 'listing groups')
    return reader.array(() => ({ groupId: reader.string(), protocolType: reader.string() }))
  },
}

const STATES: Readonly<Record<string, GroupDescription['state']>> = {
  Empty: 'empty',
  Stable: 'stable',
  PreparingRebalance: 'rebalancing',
  CompletingRebalance: 'rebalancing',
}

export const describeGroupsApi: KafkaApi<BackendRequest<'describeGroup'>, GroupDescription> = {
  key: 15,
  name: 'DescribeGroups',
  version: 4,
  rights: ({ groupId }) => ({ group: ['DESCRIBE', groupId] }),
  write: (writer, { groupId }) => writer.array([groupId], (id) => writer.string(id)).bool(false),
  read: (reader, errors) => {
    reader.int32()
    const [group] = reader.array(() => readGroup(reader, errors))
    return group ?? { groupId: '', state: 'dead', protocolType: '', protocol: '', members: [] }
  },
}

/** The operations on a group that this client may perform, for `check-rights.ts`. */
export const groupOperationsApi: KafkaApi<BackendRequest<'describeGroup'>, number> = {
  key: 15,
  name: 'DescribeGroups',
  version: 4,
  rights: ({ groupId }) => ({ group: ['DESCRIBE', groupId] }),
  write: (writer, { groupId }) => writer.array([groupId], (id) => writer.string(id)).bool(true),
  read: (reader, errors) => {
    reader.int32()
    const [operations = 0] = reader.array(() => {
      readGroup(reader, errors)
      return reader.int32()
    })
    return operations
  },
}

function readGroup(reader: ProtocolReader, errors: ResponseErrors): GroupDescription {
  errors.check(reader.int16(), 'describing the group')
  return {
    groupId: reader.string(),
    state: STATES[reader.string()] ?? 'dead',
    protocolType: reader.string(),
    protocol: reader.string(),
    members: reader.array(() => ({
      memberId: reader.string(),
      ...readInstance(reader),
      clientId: reader.string(),
      clientHost: reader.string(),
      metadata: reader.data(),
      assignment: reader.data(),
    })),
  }
}

export const offsetDeleteApi: KafkaApi<BackendRequest<'deleteGroupOffsets'>, void> = {
  key: 47,
  name: 'OffsetDelete',
  version: 0,
  rights: ({ groupId }) => ({ group: ['DELETE', groupId], topic: 'READ' }),
  write: (writer, { groupId, partitions }) => {
    writer.string(groupId)
    writeTopics(writer, byTopic(partitions), ({ partition }) => writer.int32(partition))
  },
  read: (reader, errors) => {
    errors.check(reader.int16(), 'deleting committed offsets')
    reader.int32()
    readTopics(reader, (topic) => {
      const partition = reader.int32()
      errors.check(reader.int16(), `deleting the committed offset of ${topic}-${partition}`, { topic })
    })
  },
}

export const deleteGroupsApi: KafkaApi<BackendRequest<'deleteGroup'>, void> = {
  key: 42,
  name: 'DeleteGroups',
  version: 1,
  earlierVersion: 0,
  rights: ({ groupId }) => ({ group: ['DELETE', groupId] }),
  write: (writer, { groupId }) => writer.array([groupId], (id) => writer.string(id)),
  read: (reader, errors) => {
    reader.int32()
    reader.array(() => {
      const groupId = reader.string()
      errors.check(reader.int16(), `deleting group '${groupId}'`)
    })
  },
}

function readInstance(reader: ProtocolReader): { instanceId?: string } {
  const instanceId = reader.nullableString()
  return instanceId === null ? {} : { instanceId }
}
