import { type Clock, WAIT_ENDED } from '../../common/clock.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { backoffMs } from '../../common/retry.ts'
import type {
  CommittedOffset,
  Generation,
  GroupMembership,
  GroupMembershipOptions,
  GroupProtocol,
  InstanceId,
} from '../broker.ts'
import type { BrokerBackend } from '../broker-backend.ts'
import { BrokerError, isRejection, isTransient } from '../broker-error.ts'
import type { ClientDefaults } from '../client-settings.ts'

const SESSION_TIMEOUT_MS = 10_000
const REBALANCE_TIMEOUT_MS = 60_000
const HEARTBEAT_MS = 3_000
const NOTHING = new Uint8Array(0)

export type GroupMembershipDependencies = {
  readonly backend: BrokerBackend
  readonly clock: Clock
  readonly logger: Logger
  readonly defaults: ClientDefaults
  readonly onClose: () => void
}

/** Joins the group and resolves after the first rebalance. Rejects on an error that is not transient. */
export async function openGroupMembership(
  parts: GroupMembershipDependencies,
  options: GroupMembershipOptions,
): Promise<GroupMembership> {
  const member = new ClassicGroupMembership(parts, options)
  await member.start()
  return member
}

/**
 * The client side of Kafka's classic group protocol, for any protocol type. One loop joins, syncs and waits for the
 * next rebalance. Heartbeats run in parallel, also while callbacks of the program run.
 */
class ClassicGroupMembership implements GroupMembership {
  readonly #parts: GroupMembershipDependencies
  readonly #options: GroupMembershipOptions
  readonly #stop = new AbortController()
  #current: Generation | undefined
  /**
   * The last generation, until this member has ended what it does in it. A member without `onRevoked` continues with that while it
   * rejoins, so its session is kept and watched until the next generation begins.
   */
  #held: Generation | undefined
  #memberId = ''
  #validUntilMs = 0
  #isRejoinRequested = false
  /** The member cannot return: another one has its instance id and would be fenced in turn, or the group rejects it. */
  #hasEnded = false
  readonly #joinErrors = new ErrorDeduplicator()
  /** Aborts when the member must not wait for others any longer. */
  #cancelled: AbortSignal
  #wake: (() => void) | undefined
  #running: Promise<void> | undefined

  constructor(parts: GroupMembershipDependencies, options: GroupMembershipOptions) {
    this.#parts = parts
    this.#options = options
    const { signal } = options
    this.#cancelled = signal === undefined ? this.#stop.signal : AbortSignal.any([this.#stop.signal, signal])
  }

  get memberId(): string {
    return this.#memberId
  }

  validUntilMs(): number {
    return this.#validUntilMs
  }

  async start(): Promise<void> {
    try {
      await this.#rejoinUntilJoined(true)
    } catch (error) {
      if (this.#cancelled.aborted) void this.#leave(this.#memberId)
      throw error
    }
    this.#cancelled = this.#stop.signal
    if (this.#options.instanceId !== undefined) await this.#checkAssignment()
    this.#running = this.#run()
  }

  async commit(offsets: readonly CommittedOffset[]): Promise<void> {
    const { groupId, instanceId } = this.#options
    if (!this.#current)
      throw new BrokerError('unknown_member', `this client is currently not a member of group '${groupId}'`)
    const { memberId, generation } = this.#current
    const member = { memberId, generation, ...(instanceId === undefined ? {} : { instanceId }) }
    await this.#parts.backend.commitOffsets({ groupId, offsets, member })
  }

  rejoin(reason: string): void {
    this.#parts.logger.debug({ groupId: this.#options.groupId, reason }, 'requesting a rebalance of the group')
    this.#requestRejoin()
  }

  async close(): Promise<void> {
    if (this.#stop.signal.aborted) return this.#running
    this.#stop.abort(new BrokerError('closed', 'the member left its group'))
    this.#wake?.()
    await this.#running
    await this.#revoke()
    this.#validUntilMs = 0
    if (!this.#hasEnded) await this.#leave(this.#memberId)
    this.#parts.onClose()
  }

  /** If this fails, the session expires on its own. */
  async #leave(memberId: string): Promise<void> {
    if (memberId === '') return
    await this.#parts.backend.leaveGroup({ ...this.#identity(), memberId }).catch(() => undefined)
  }

  #requestRejoin(): void {
    this.#isRejoinRequested = true
    this.#wake?.()
  }

  async #run(): Promise<void> {
    while (!this.#isClosed()) {
      if (!this.#isRejoinRequested) await this.#waitUntilWoken()
      if (this.#isClosed()) return
      await this.#revoke()
      await this.#rejoinUntilJoined(false)
    }
  }

  #isClosed(): boolean {
    return this.#stop.signal.aborted || this.#hasEnded
  }

  #waitUntilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
      if (this.#isRejoinRequested || this.#isClosed()) this.#wake()
    })
  }

  async #revoke(): Promise<void> {
    if (!this.#current) return
    const { onRevoked } = this.#options.protocol
    if (onRevoked) {
      await this.#runCallback('revoked', onRevoked)
      this.#held = undefined
    }
    this.#current = undefined
  }

  async #rejoinUntilJoined(isFirst: boolean): Promise<void> {
    for (let attempt = 0; !this.#isClosed(); attempt++) {
      try {
        this.#isRejoinRequested = false
        return await this.#rejoin()
      } catch (error) {
        if (isFirst && (this.#cancelled.aborted || !mayJoinLater(error))) throw error
        if (this.#isClosed()) return
        await this.#handleJoinError(error, attempt)
      }
    }
  }

  async #handleJoinError(error: unknown, attempt: number): Promise<void> {
    const { protocol, groupId } = this.#options
    if (isFenced(error)) return this.#endFenced(error as BrokerError)
    if (protocol.onRejected && isRejection(error)) return this.#endRejected(error, protocol.onRejected)
    this.#resetIfUnknown(error)
    if (isRebalance(error)) return
    const { clock, logger } = this.#parts
    const waitMs = backoffMs(this.#parts.defaults.retryBackoff, attempt)
    if (!this.#joinErrors.isRepeated(error))
      logger.warn({ err: error, groupId }, 'cannot join the group, retrying until it succeeds')
    await clock.sleep(waitMs, this.#stop.signal).catch(() => undefined)
  }

  async #rejoin(): Promise<void> {
    const { backend: home } = this.#parts
    const { protocol, protocolType } = this.#options
    const joining = home.joinGroup({
      ...this.#identity(),
      protocolType,
      protocols: protocol.protocols(),
      sessionTimeoutMs: this.#options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS,
      rebalanceTimeoutMs: this.#options.rebalanceTimeoutMs ?? REBALANCE_TIMEOUT_MS,
      memberId: this.#memberId,
      ...(this.#options.clientId === undefined ? {} : { clientId: this.#options.clientId }),
    })
    const joined = await this.#unlessCancelled(joining, (late) => this.#leave(late.memberId))
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
    const syncing = home.syncGroup({ ...this.#identity(), generation, memberId, assignments })
    const assignment = await this.#unlessCancelled(syncing)
    this.#extend(sentMs)
    const current: Generation = { generation, memberId, leaderId, protocol: joined.protocol, assignment }
    this.#current = current
    this.#held = current
    this.#joinErrors.clear()
    void this.#sendHeartbeats(current)
    await this.#runCallback('joined', () => protocol.onJoined(current))
  }

  /**
   * Waits for a response that the coordinator sends when all members have joined or synced. That can take minutes while
   * another member writes its last records. Rejects when this member leaves meanwhile; `onLate` then receives the response.
   */
  async #unlessCancelled<T>(response: Promise<T>, onLate?: (late: T) => void): Promise<T> {
    const cancelled = this.#cancelled
    const { promise, reject } = Promise.withResolvers<never>()
    const onAbort = () => reject(new BrokerError('closed', 'the member left its group before it had joined'))
    if (cancelled.aborted) onAbort()
    else cancelled.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([response, promise])
    } catch (error) {
      if (cancelled.aborted) response.then(onLate, () => undefined)
      throw error
    } finally {
      cancelled.removeEventListener('abort', onAbort)
    }
  }

  /**
   * A static member that restarts gets its previous assignment without a rebalance. If it was the leader, nobody has
   * checked since then whether the assignment is still current.
   */
  async #checkAssignment(): Promise<void> {
    const current = this.#current
    if (!current || current.leaderId === current.memberId) return
    const { groupId, protocol } = this.#options
    try {
      const { members } = await this.#parts.backend.describeGroup({ groupId })
      if (members.some(({ memberId }) => memberId === current.leaderId)) return
      const shares = await protocol.assign(current.protocol, members, current)
      const isSame = members.every(
        ({ memberId, assignment }) => Buffer.compare(assignment, shares.get(memberId) ?? NOTHING) === 0,
      )
      if (!isSame) this.rejoin('the assignment is out of date')
    } catch (error) {
      this.#parts.logger.debug({ err: error, groupId }, 'cannot check the assignment of the group')
      this.rejoin('the assignment could not be checked')
    }
  }

  /** Sends heartbeats until this member holds nothing of the generation any more. */
  async #sendHeartbeats(generation: Generation): Promise<void> {
    const { backend: home, clock } = this.#parts
    const { heartbeatMs = HEARTBEAT_MS } = this.#options
    const isOver = () => this.#held !== generation || this.#stop.signal.aborted
    while (!isOver()) {
      await clock.sleep(heartbeatMs, this.#stop.signal).catch(() => undefined)
      if (isOver()) return
      const sentMs = clock.monotonicMs()
      try {
        const beat = { ...this.#identity(), generation: generation.generation, memberId: generation.memberId }
        await this.#within(Math.max(this.#validUntilMs, sentMs + heartbeatMs), home.heartbeat(beat))
        if (!isOver()) this.#extend(sentMs)
      } catch (error) {
        if (!isOver()) await this.#handleHeartbeatError(error as Error, sentMs)
      }
    }
  }

  /** Rejects at the end of the session, even if the broker does not respond at all. */
  async #within(endMs: number, request: Promise<void>): Promise<void> {
    const { clock } = this.#parts
    const settled = new AbortController()
    const sessionEnd = async () => {
      for (let leftMs = endMs - clock.monotonicMs(); leftMs > 0; leftMs = endMs - clock.monotonicMs())
        await clock.sleep(Math.ceil(leftMs), settled.signal)
      throw new BrokerError('timeout', 'the session timed out: the broker did not respond')
    }
    try {
      await Promise.race([request, sessionEnd()])
    } finally {
      settled.abort(WAIT_ENDED)
    }
  }

  async #handleHeartbeatError(error: Error, sentMs: number): Promise<void> {
    const isRejoining = this.#current === undefined
    if (isRebalance(error)) {
      this.#extend(sentMs)
      if (!isRejoining) this.#requestRejoin()
    } else if (isFenced(error)) await this.#endFenced(error as BrokerError)
    // While it rejoins, the next generation may have begun, of which this is a member: its response is on the way.
    else if (isUnknown(error) || (isExpelled(error) && !isRejoining)) await this.#endMembership(error)
    else if (this.#parts.clock.monotonicMs() >= this.#validUntilMs) await this.#endMembership(error)
  }

  /** The coordinator may have removed this member. */
  async #endMembership(error: Error): Promise<void> {
    this.#forget()
    this.#resetIfUnknown(error)
    this.#parts.logger.warn({ err: error, groupId: this.#options.groupId }, 'the group membership was lost, rejoining')
    await this.#runCallback('lost', () => this.#options.protocol.onLost?.(error))
    // Also if it is rejoining: it has told the group about work that it no longer does.
    this.#requestRejoin()
  }

  async #endFenced(error: BrokerError): Promise<void> {
    if (this.#hasEnded) return
    const { groupId, instanceId, protocol } = this.#options
    this.#parts.logger.warn(
      { err: error, groupId, instanceId },
      'fenced: another member joined the group with the same instance id',
    )
    this.#end()
    await this.#runCallback('rejected', () => protocol.onRejected?.(error))
    await this.#runCallback('lost', () => protocol.onLost?.(error))
  }

  /** Everything of the earlier generation was revoked or lost before this member joined again. */
  async #endRejected(error: BrokerError, onRejected: NonNullable<GroupProtocol['onRejected']>): Promise<void> {
    this.#end()
    await this.#runCallback('rejected', () => onRejected(error))
  }

  #end(): void {
    this.#hasEnded = true
    this.#forget()
    this.#wake?.()
  }

  #forget(): void {
    this.#current = undefined
    this.#held = undefined
    this.#validUntilMs = 0
  }

  #identity(): { readonly groupId: string; readonly instanceId?: InstanceId } {
    const { groupId, instanceId } = this.#options
    return instanceId === undefined ? { groupId } : { groupId, instanceId }
  }

  #resetIfUnknown(error: unknown): void {
    if (isUnknown(error)) this.#memberId = ''
  }

  /** The coordinator starts the session timeout when it receives the heartbeat, which is after it was sent. */
  #extend(sentMs: number): void {
    this.#validUntilMs = sentMs + (this.#options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS)
  }

  async #runCallback(callback: string, call: () => Promise<void> | void): Promise<void> {
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

function isUnknown(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'unknown_member'
}

function isExpelled(error: unknown): boolean {
  return isUnknown(error) || (error instanceof BrokerError && error.code === 'illegal_generation')
}

function isFenced(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'fenced'
}

function mayJoinLater(error: unknown): boolean {
  return isTransient(error) || isExpelled(error)
}
