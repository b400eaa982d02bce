import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import { backoffMs } from '../config/retry.ts'
import type { BrokerBackend } from './backend.ts'
import type { CommittedOffset, Generation, GroupMembership, GroupMembershipOptions, InstanceId } from './broker.ts'
import { BrokerError } from './error.ts'

const SESSION_TIMEOUT_MS = 10_000
const REBALANCE_TIMEOUT_MS = 60_000
const HEARTBEAT_MS = 3_000
const BACKOFF = { firstMs: 100, maxMs: 2_000 }
const NOTHING = new Uint8Array(0)

export type GroupMembershipDependencies = {
  readonly home: BrokerBackend
  readonly clock: Clock
  readonly logger: Logger
  readonly onClose: () => void
}

/** Joins, and returns after the first round; an error that waiting does not heal rejects. */
export async function openGroupMembership(
  parts: GroupMembershipDependencies,
  options: GroupMembershipOptions,
): Promise<GroupMembership> {
  const member = new ClassicGroupMembership(parts, options)
  await member.start()
  return member
}

/**
 * The member's side of Kafka's group protocol, for every protocol type. One loop joins, synchronises and waits until the
 * group wants a new round; heartbeats go on beside it, also while the program's callbacks take their time.
 */
class ClassicGroupMembership implements GroupMembership {
  readonly #parts: GroupMembershipDependencies
  readonly #options: GroupMembershipOptions
  readonly #stop = new AbortController()
  #current: Generation | undefined
  #memberId = ''
  #validUntilMs = 0
  #isRejoinWanted = false
  /** Another one has this member's instance id: joining again would throw that one out in turn. */
  #isFenced = false
  #wake: (() => void) | undefined
  #running: Promise<void> | undefined

  constructor(parts: GroupMembershipDependencies, options: GroupMembershipOptions) {
    this.#parts = parts
    this.#options = options
  }

  get memberId(): string {
    return this.#memberId
  }

  validUntilMs(): number {
    return this.#validUntilMs
  }

  async start(): Promise<void> {
    await this.#roundUntilJoined(true)
    if (this.#options.instanceId !== undefined) await this.#checkShares()
    this.#running = this.#run()
  }

  async commit(offsets: readonly CommittedOffset[]): Promise<void> {
    const { groupId, instanceId } = this.#options
    if (!this.#current) throw new BrokerError('unknown_member', `this is not a member of '${groupId}' now`)
    const { memberId, generation } = this.#current
    const member = { memberId, generation, ...(instanceId === undefined ? {} : { instanceId }) }
    await this.#parts.home.commitOffsets({ groupId, offsets, member })
  }

  rejoin(reason: string): void {
    this.#parts.logger.debug({ groupId: this.#options.groupId, reason }, 'asking for a new round of the group')
    this.#wantRejoin()
  }

  async close(): Promise<void> {
    if (this.#stop.signal.aborted) return this.#running
    this.#stop.abort(new BrokerError('closed', 'the member left its group'))
    this.#wake?.()
    await this.#running
    await this.#revoke()
    this.#validUntilMs = 0
    if (this.#memberId !== '' && !this.#isFenced) {
      // The session ends by itself when this does not get through.
      await this.#parts.home.leaveGroup({ ...this.#identity(), memberId: this.#memberId }).catch(() => undefined)
    }
    this.#parts.onClose()
  }

  #wantRejoin(): void {
    this.#isRejoinWanted = true
    this.#wake?.()
  }

  async #run(): Promise<void> {
    while (!this.#isOver()) {
      if (!this.#isRejoinWanted) await this.#untilWoken()
      if (this.#isOver()) return
      await this.#revoke()
      await this.#roundUntilJoined(false)
    }
  }

  #isOver(): boolean {
    return this.#stop.signal.aborted || this.#isFenced
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
      if (this.#isRejoinWanted || this.#isOver()) this.#wake()
    })
  }

  async #revoke(): Promise<void> {
    if (!this.#current) return
    await this.#guarded('revoked', () => this.#options.protocol.onRevoked?.())
    this.#current = undefined
  }

  async #roundUntilJoined(isFirst: boolean): Promise<void> {
    for (let attempt = 0; !this.#isOver(); attempt++) {
      try {
        this.#isRejoinWanted = false
        return await this.#round()
      } catch (error) {
        if (isFirst && !isPassing(error)) throw error
        await this.#couldNotJoin(error, attempt)
      }
    }
  }

  async #couldNotJoin(error: unknown, attempt: number): Promise<void> {
    if (isFenced(error)) return this.#endFenced(error as Error)
    this.#forgetWhenUnknown(error)
    if (isRebalance(error)) return
    const { clock, logger } = this.#parts
    const waitMs = backoffMs(BACKOFF, attempt)
    logger.warn({ err: error, groupId: this.#options.groupId, waitMs }, 'could not join the group: trying again')
    await clock.sleep(waitMs, this.#stop.signal).catch(() => undefined)
  }

  async #round(): Promise<void> {
    const { home } = this.#parts
    const { protocol, protocolType } = this.#options
    const joined = await home.joinGroup({
      ...this.#identity(),
      protocolType,
      protocols: protocol.protocols(),
      sessionTimeoutMs: this.#options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS,
      rebalanceTimeoutMs: this.#options.rebalanceTimeoutMs ?? REBALANCE_TIMEOUT_MS,
      memberId: this.#memberId,
      ...(this.#options.clientId === undefined ? {} : { clientId: this.#options.clientId }),
    })
    this.#memberId = joined.memberId
    const { generation, memberId, leaderId } = joined
    const shares =
      leaderId === memberId
        ? await protocol.assign(joined.protocol, joined.members, { memberId, generation })
        : new Map()
    const sentMs = this.#parts.clock.monotonicMs()
    const assignments = [...shares].map(([id, assignment]) => ({
      memberId: id as string,
      assignment: assignment as Uint8Array,
    }))
    const assignment = await home.syncGroup({ ...this.#identity(), generation, memberId, assignments })
    this.#extend(sentMs)
    const current: Generation = { generation, memberId, leaderId, protocol: joined.protocol, assignment }
    this.#current = current
    void this.#beat(current)
    await this.#guarded('joined', () => protocol.onJoined(current))
  }

  /**
   * A static member that comes back is given its old share without a round. When it led the group, nobody has looked
   * since at what there is to share out.
   */
  async #checkShares(): Promise<void> {
    const current = this.#current
    if (!current || current.leaderId === current.memberId) return
    const { groupId, protocol } = this.#options
    try {
      const { members } = await this.#parts.home.describeGroup({ groupId })
      if (members.some(({ memberId }) => memberId === current.leaderId)) return
      const shares = await protocol.assign(current.protocol, members, current)
      const isSame = members.every(
        ({ memberId, assignment }) => Buffer.compare(assignment, shares.get(memberId) ?? NOTHING) === 0,
      )
      if (!isSame) this.rejoin('there is something else to share out than when the group was settled')
    } catch (error) {
      this.#parts.logger.debug({ err: error, groupId }, 'could not look at the shares of the group')
      this.rejoin('the shares of the group could not be looked at')
    }
  }

  /** Heartbeats of one generation; ends with it. */
  async #beat(generation: Generation): Promise<void> {
    const { home, clock } = this.#parts
    const { heartbeatMs = HEARTBEAT_MS } = this.#options
    while (this.#current === generation && !this.#stop.signal.aborted) {
      await clock.sleep(heartbeatMs, this.#stop.signal).catch(() => undefined)
      if (this.#current !== generation || this.#stop.signal.aborted) return
      const sentMs = clock.monotonicMs()
      try {
        const beat = { ...this.#identity(), generation: generation.generation, memberId: generation.memberId }
        await this.#within(Math.max(this.#validUntilMs, sentMs + heartbeatMs), home.heartbeat(beat))
        this.#extend(sentMs)
      } catch (error) {
        await this.#missed(error, sentMs)
      }
    }
  }

  /** Whoever hangs on a call to a broker that is out of reach has to know nevertheless that his session is over. */
  async #within(endMs: number, answer: Promise<void>): Promise<void> {
    const { clock } = this.#parts
    const answered = new AbortController()
    const sessionEnd = async () => {
      for (let leftMs = endMs - clock.monotonicMs(); leftMs > 0; leftMs = endMs - clock.monotonicMs())
        await clock.sleep(Math.ceil(leftMs), answered.signal)
      throw new BrokerError('timeout', 'the session is over, and the broker did not answer')
    }
    try {
      await Promise.race([answer, sessionEnd()])
    } finally {
      answered.abort()
    }
  }

  async #missed(error: unknown, sentMs: number): Promise<void> {
    if (isRebalance(error)) {
      this.#extend(sentMs)
      this.#wantRejoin()
    } else if (isFenced(error)) await this.#endFenced(error as Error)
    else if (isGone(error)) await this.#lose(error as Error)
    else if (this.#parts.clock.monotonicMs() >= this.#validUntilMs) await this.#lose(error as Error)
  }

  /** Somebody else may have this place now. */
  async #lose(error: Error): Promise<void> {
    if (!this.#current) return
    this.#current = undefined
    this.#validUntilMs = 0
    this.#forgetWhenUnknown(error)
    this.#parts.logger.warn(
      { err: error, groupId: this.#options.groupId },
      'lost the place in the group: joining again',
    )
    await this.#guarded('lost', () => this.#options.protocol.onLost?.(error))
    this.#wantRejoin()
  }

  async #endFenced(error: Error): Promise<void> {
    if (this.#isFenced) return
    this.#isFenced = true
    this.#current = undefined
    this.#validUntilMs = 0
    this.#wake?.()
    const { groupId, instanceId } = this.#options
    this.#parts.logger.warn({ err: error, groupId, instanceId }, 'another one took the place in the group')
    await this.#guarded('lost', () => this.#options.protocol.onLost?.(error))
  }

  #identity(): { readonly groupId: string; readonly instanceId?: InstanceId } {
    const { groupId, instanceId } = this.#options
    return instanceId === undefined ? { groupId } : { groupId, instanceId }
  }

  #forgetWhenUnknown(error: unknown): void {
    if (error instanceof BrokerError && error.code === 'unknown_member') this.#memberId = ''
  }

  /** The broker counts from the heartbeat's arrival, which is after it was sent. */
  #extend(sentMs: number): void {
    this.#validUntilMs = sentMs + (this.#options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS)
  }

  async #guarded(callback: string, call: () => Promise<void> | void): Promise<void> {
    try {
      await call()
    } catch (error) {
      this.#parts.logger.error(
        { err: error, groupId: this.#options.groupId, callback },
        'a callback of a group member failed',
      )
    }
  }
}

function isRebalance(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'rebalance_in_progress'
}

function isGone(error: unknown): boolean {
  return error instanceof BrokerError && (error.code === 'unknown_member' || error.code === 'illegal_generation')
}

function isFenced(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'fenced'
}

function isPassing(error: unknown): boolean {
  return error instanceof BrokerError && (error.retriable || isGone(error))
}
