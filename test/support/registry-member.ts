import type { Broker, GroupMembership } from '../../src/broker/broker.ts'
import { electLeader } from '../../src/registry/leadership/elect-leader.ts'
import { parseIdentity } from '../../src/registry/leadership/group-protocol.ts'

export type ConfluentMember = {
  readonly groupId: string
  readonly host: string
  readonly isEligible: boolean
  /** Default: that of the broker. */
  readonly heartbeatMs?: number
}

/** Joins a group of registries as Confluent's registry does, without the member `leader` of newer versions. */
export function joinAsConfluentRegistry(
  broker: Broker,
  { groupId, host, isEligible, heartbeatMs }: ConfluentMember,
): Promise<GroupMembership> {
  const identity = { version: 1, host, port: 8081, master_eligibility: isEligible, scheme: 'http' }
  return broker.joinGroup({
    groupId,
    protocolType: 'sr',
    clientId: 'sr-1',
    ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    protocol: {
      protocols: () => [{ name: 'v0', metadata: Buffer.from(JSON.stringify(identity)) }],
      assign: (_, members) => {
        const candidates = members.map(({ memberId, metadata }) => ({ memberId, identity: parseIdentity(metadata) }))
        const assignment = Buffer.from(JSON.stringify(electLeader(candidates, false)))
        return new Map(members.map(({ memberId }) => [memberId, assignment]))
      },
      onJoined: () => undefined,
      onLost: () => undefined,
    },
  })
}
