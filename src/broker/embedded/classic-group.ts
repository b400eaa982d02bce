import { randomUUID } from 'node:crypto'
import type { GroupDescription, MemberGeneration } from '../broker.ts'
import type { BackendRequest, JoinResult } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'

type JoinRequest = BackendRequest<'joinGroup'>
type SyncRequest = BackendRequest<'syncGroup'>
type Protocols = JoinRequest['protocols']
type Identity = Pick<MemberGeneration, 'memberId' | 'instanceId'>

type Member = {
  readonly id: string
  readonly instanceId: string | undefined
  readonly clientId: string
  protocols: Protocols
  sessionTimeoutMs: number
  rebalanceTimeoutMs: number
  /** When the session expires without a heartbeat. Not checked while the member waits for a response. */
  deadlineMs: number
  assignment: Uint8Array
  joining: PromiseWithResolvers<JoinResult> | undefined
  syncing: PromiseWithResolvers<Uint8Array> | undefined
}

/**
 * `empty`: no members · `preparing`: members are asked to rejoin · `completing`: waiting for the assignment of the
 * leader · `stable`: all members have an assignment.
 */
type State = 'empty' | 'preparing' | 'completing' | 'stable'

const MEMBERS_MAX = 1000
const NOTHING = new Uint8Array(0)

/**
 * Membership of one group as in Kafka's coordinator (classic protocol). Time is passed to each call; `tick` handles
 * expirations.
 */
export class ClassicGroup {
  readonly id: string
  readonly #completed: (group: ClassicGroup) => void
  readonly #members = new Map<string, Member>()
  #state: State = 'empty'
  #generation: number
  #protocolType: string
  #protocol = ''
  #leaderId = ''
  /** Deadline of the current rebalance: members that have not joined or synced by then are removed. */
  #rebalanceDeadlineMs = 0

  constructor(
    id: string,
    last: { readonly generation: number; readonly protocolType: string },
    completed: (group: ClassicGroup) => void,
  ) {
    this.id = id
    this.#generation = last.generation
    this.#protocolType = last.protocolType
    this.#completed = completed
  }

  get generation(): number {
    return this.#generation
  }

  get protocolType(): string {
    return this.#protocolType
  }

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  join(request: JoinRequest, nowMs: number): Promise<JoinResult> {
    this.#checkJoin(request)
    const holder = request.memberId === '' ? this.#holderOf(request.instanceId) : undefined
    if (holder !== undefined) return this.#replace(holder, request, nowMs)
    const known = this.#members.get(request.memberId)
    if (known !== undefined && this.#isUnchangedRejoin(known, request)) {
      known.deadlineMs = nowMs + known.sessionTimeoutMs
      return Promise.resolve(this.#joinResult(known))
    }
    return this.#joinRebalance(known ?? this.#admit(request), request, nowMs)
  }

  #joinRebalance(member: Member, request: JoinRequest, nowMs: number): Promise<JoinResult> {
    if (this.isEmpty) this.#protocolType = request.protocolType
    this.#members.set(member.id, member)
    member.protocols = request.protocols
    member.sessionTimeoutMs = request.sessionTimeoutMs
    member.rebalanceTimeoutMs = request.rebalanceTimeoutMs
    member.joining?.reject(superseded(this.id))
    const joining = Promise.withResolvers<JoinResult>()
    member.joining = joining
    if (this.#state !== 'preparing') this.#prepare(nowMs)
    this.#completeJoinIfAllJoined(nowMs)
    return joining.promise
  }

  sync(request: SyncRequest, nowMs: number): Promise<Uint8Array> {
    const member = this.#checkMember(request)
    if (this.#state === 'preparing') return Promise.reject(rebalancing(this.id))
    member.deadlineMs = nowMs + member.sessionTimeoutMs
    if (this.#state === 'stable') return Promise.resolve(member.assignment)
    member.syncing?.reject(superseded(this.id))
    const syncing = Promise.withResolvers<Uint8Array>()
    member.syncing = syncing
    if (member.id === this.#leaderId) this.#assign(request.assignments, nowMs)
    return syncing.promise
  }

  heartbeat(member: MemberGeneration, nowMs: number): void {
    const known = this.#checkMember(member)
    known.deadlineMs = nowMs + known.sessionTimeoutMs
    if (this.#state === 'preparing') throw rebalancing(this.id)
  }

  leave(member: Identity, nowMs: number): void {
    this.#remove(this.#identify(member).id, nowMs)
  }

  /** Throws unless this member may commit offsets now; without a member, unless the group is empty. */
  checkCommit(member: MemberGeneration | undefined): void {
    if (member === undefined) {
      if (this.isEmpty) return
      throw new BrokerError(
        'group_not_empty',
        `group '${this.id}' has active members: only they may commit its offsets`,
      )
    }
    this.#checkMember(member)
    if (this.#state === 'completing') throw rebalancing(this.id)
  }

  /** Removes members with an expired session and completes a rebalance that timed out. */
  tick(nowMs: number): void {
    for (const member of [...this.#members.values()]) {
      const waits = member.joining !== undefined || member.syncing !== undefined
      if (!waits && nowMs >= member.deadlineMs) this.#remove(member.id, nowMs)
    }
    if (nowMs < this.#rebalanceDeadlineMs) return
    if (this.#state === 'preparing') this.#completeJoin(nowMs)
    if (this.#state === 'completing') this.#removeUnsyncedMembers(nowMs)
  }

  /** Rejects all waiting calls. */
  close(error: BrokerError): void {
    for (const member of this.#members.values()) {
      member.joining?.reject(error)
      member.syncing?.reject(error)
    }
    this.#members.clear()
    this.#state = 'empty'
  }

  describe(): GroupDescription {
    const rebalances = this.#state === 'preparing' || this.#state === 'completing'
    return {
      groupId: this.id,
      state: rebalances ? 'rebalancing' : this.#state === 'stable' ? 'stable' : 'empty',
      protocolType: this.#protocolType,
      protocol: this.#protocol,
      members: [...this.#members.values()].map((member) => ({
        ...identityOf(member),
        clientId: member.clientId,
        clientHost: 'localhost',
        metadata: this.#metadataOf(member),
        assignment: member.assignment,
      })),
    }
  }

  #checkJoin(request: JoinRequest): void {
    const own = request.memberId === '' ? this.#holderOf(request.instanceId) : this.#identify(request)
    const others = [...this.#members.values()].filter((member) => member !== own)
    const agrees =
      request.protocols.length > 0 &&
      (others.length === 0 ||
        (request.protocolType === this.#protocolType && commonProtocols([request, ...others]).length > 0))
    if (agrees && request.protocolType !== '') return
    const requested = `${request.protocolType} (${request.protocols.map(({ name }) => name).join(', ')})`
    throw new BrokerError(
      'inconsistent_group',
      `group '${this.id}' has the protocol type ${this.#protocolType} and no protocol in common with ${requested}`,
    )
  }

  /** A rejoin without changes does not trigger a rebalance, except by the leader, who requests one that way. */
  #isUnchangedRejoin(member: Member, request: JoinRequest): boolean {
    const settled = this.#state === 'completing' || (this.#state === 'stable' && member.id !== this.#leaderId)
    return settled && sameProtocols(member.protocols, request.protocols)
  }

  #admit(request: JoinRequest): Member {
    if (this.#members.size >= MEMBERS_MAX) {
      throw new BrokerError('invalid_request', `group '${this.id}' is full: ${MEMBERS_MAX} members`)
    }
    const { clientId = 'weir' } = request
    return {
      id: `${request.instanceId ?? clientId}-${randomUUID()}`,
      instanceId: request.instanceId,
      clientId,
      protocols: request.protocols,
      sessionTimeoutMs: request.sessionTimeoutMs,
      rebalanceTimeoutMs: request.rebalanceTimeoutMs,
      deadlineMs: 0,
      assignment: NOTHING,
      joining: undefined,
      syncing: undefined,
    }
  }

  #holderOf(instanceId: string | undefined): Member | undefined {
    if (instanceId === undefined) return undefined
    return [...this.#members.values()].find((member) => member.instanceId === instanceId)
  }

  /**
   * A static member takes over the assignment of its instance id. In a stable group the other members are not affected.
   */
  #replace(holder: Member, request: JoinRequest, nowMs: number): Promise<JoinResult> {
    const error = fenced(this.id, request.instanceId)
    holder.joining?.reject(error)
    holder.syncing?.reject(error)
    this.#members.delete(holder.id)
    const member = this.#admit(request)
    const result = this.#joinResult(member)
    if (this.#leaderId === holder.id) this.#leaderId = member.id
    if (this.#state !== 'stable' || !sameProtocols(holder.protocols, request.protocols))
      return this.#joinRebalance(member, request, nowMs)
    member.assignment = holder.assignment
    member.deadlineMs = nowMs + member.sessionTimeoutMs
    this.#members.set(member.id, member)
    return Promise.resolve(result)
  }

  #prepare(nowMs: number): void {
    for (const member of this.#members.values()) {
      if (member.syncing === undefined) continue
      member.syncing.reject(rebalancing(this.id))
      member.syncing = undefined
      member.deadlineMs = nowMs + member.sessionTimeoutMs // Its wait for our answer was no silence.
    }
    this.#state = 'preparing'
    this.#rebalanceDeadlineMs = nowMs + this.#rebalanceTimeoutMs()
  }

  #completeJoinIfAllJoined(nowMs: number): void {
    const haveAllJoined = [...this.#members.values()].every((member) => member.joining !== undefined)
    if (this.#state === 'preparing' && haveAllJoined) this.#completeJoin(nowMs)
  }

  #completeJoin(nowMs: number): void {
    for (const member of this.#members.values()) if (member.joining === undefined) this.#members.delete(member.id)
    this.#generation += 1
    if (this.isEmpty) {
      this.#state = 'empty'
      this.#protocol = ''
    } else {
      this.#state = 'completing'
      this.#rebalanceDeadlineMs = nowMs + this.#rebalanceTimeoutMs()
      this.#protocol = electProtocol([...this.#members.values()])
      if (!this.#members.has(this.#leaderId)) this.#leaderId = this.#members.keys().next().value!
    }
    this.#completed(this)
    for (const member of this.#members.values()) {
      member.joining?.resolve(this.#joinResult(member))
      member.joining = undefined
      member.deadlineMs = nowMs + member.sessionTimeoutMs
    }
  }

  #assign(assignments: SyncRequest['assignments'], nowMs: number): void {
    const byMember = new Map(assignments.map(({ memberId, assignment }) => [memberId, assignment]))
    this.#state = 'stable'
    for (const member of this.#members.values()) {
      member.assignment = byMember.get(member.id) ?? NOTHING
      if (member.syncing === undefined) continue
      member.deadlineMs = nowMs + member.sessionTimeoutMs
      member.syncing.resolve(member.assignment)
      member.syncing = undefined
    }
  }

  #removeUnsyncedMembers(nowMs: number): void {
    for (const member of this.#members.values()) if (member.syncing === undefined) this.#members.delete(member.id)
    this.#prepare(nowMs)
    this.#completeJoinIfAllJoined(nowMs)
  }

  #remove(memberId: string, nowMs: number): void {
    const member = this.#members.get(memberId)!
    this.#members.delete(memberId)
    member.joining?.reject(unknownMemberError(this.id, memberId))
    member.syncing?.reject(unknownMemberError(this.id, memberId))
    if (this.#state === 'completing' || this.#state === 'stable') this.#prepare(nowMs)
    this.#completeJoinIfAllJoined(nowMs)
  }

  #identify({ memberId, instanceId }: Identity): Member {
    const holder = this.#holderOf(instanceId)
    if (holder !== undefined && holder.id !== memberId) throw fenced(this.id, instanceId)
    const known = this.#members.get(memberId)
    if (known === undefined) throw unknownMemberError(this.id, memberId)
    return known
  }

  #checkMember(member: MemberGeneration): Member {
    const known = this.#identify(member)
    if (member.generation === this.#generation) return known
    const message = `group '${this.id}' has generation ${this.#generation}, member ${member.memberId} has ${member.generation}`
    throw new BrokerError('illegal_generation', message)
  }

  #joinResult(member: Member): JoinResult {
    const isLeader = member.id === this.#leaderId
    const members = isLeader ? [...this.#members.values()] : []
    return {
      generation: this.#generation,
      memberId: member.id,
      leaderId: this.#leaderId,
      protocol: this.#protocol,
      members: members.map((other) => ({ ...identityOf(other), metadata: this.#metadataOf(other) })),
    }
  }

  #metadataOf(member: Member): Uint8Array {
    return member.protocols.find(({ name }) => name === this.#protocol)?.metadata ?? NOTHING
  }

  #rebalanceTimeoutMs(): number {
    return Math.max(0, ...[...this.#members.values()].map((member) => member.rebalanceTimeoutMs))
  }
}

/** The protocol that most members prefer among those that all support. */
function electProtocol(members: readonly { readonly protocols: Protocols }[]): string {
  const common = commonProtocols(members)
  const votes = new Map(common.map((name) => [name, 0]))
  for (const { protocols } of members) {
    const best = protocols.find(({ name }) => votes.has(name))
    if (best !== undefined) votes.set(best.name, votes.get(best.name)! + 1)
  }
  return common.reduce((best, name) => (votes.get(name)! > votes.get(best)! ? name : best))
}

function commonProtocols(members: readonly { readonly protocols: Protocols }[]): readonly string[] {
  const [first, ...others] = members.map(({ protocols }) => protocols.map(({ name }) => name))
  return (first ?? []).filter((name) => others.every((names) => names.includes(name)))
}

function sameProtocols(one: Protocols, other: Protocols): boolean {
  if (one.length !== other.length) return false
  return one.every(({ name, metadata }, index) => {
    const against = other[index]!
    return against.name === name && Buffer.compare(metadata, against.metadata) === 0
  })
}

function identityOf({ id, instanceId }: Member): Identity {
  return instanceId === undefined ? { memberId: id } : { memberId: id, instanceId }
}

function fenced(groupId: string, instanceId: string | undefined): BrokerError {
  return new BrokerError(
    'fenced',
    `group '${groupId}': another member replaced the one with instance id '${instanceId}'`,
  )
}

export function unknownMemberError(groupId: string, memberId: string): BrokerError {
  return new BrokerError('unknown_member', `group '${groupId}' has no member '${memberId}': rejoin`)
}

function rebalancing(groupId: string): BrokerError {
  return new BrokerError('rebalance_in_progress', `group '${groupId}' is rebalancing: rejoin`)
}

function superseded(groupId: string): BrokerError {
  return new BrokerError(
    'rebalance_in_progress',
    `group '${groupId}': a later call of the same member replaced this one`,
  )
}
