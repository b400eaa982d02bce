import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import { backoffMs } from '../config/retry.ts'
import type { Generation, Member, MemberOptions } from './broker.ts'
import { BrokerError } from './error.ts'
import type { Home } from './home.ts'

const SESSION_TIMEOUT_MS = 10_000
const REBALANCE_TIMEOUT_MS = 60_000
const HEARTBEAT_MS = 3_000
const BACKOFF = { firstMs: 100, maxMs: 2_000 }

export type MemberParts = {
  readonly home: Home
  readonly clock: Clock
  readonly logger: Logger
  readonly onClose: () => void
}

/** Joins, and returns after the first round; an error that waiting does not heal rejects. */
export async function joinGroup(parts: MemberParts, options: MemberOptions): Promise<Member> {
  const member = new GroupMembership(parts, options)
  await member.start()
  return member
}

/**
 * The member's side of Kafka's group protocol, for every protocol type. One loop joins, synchronises and waits until the
 * group wants a new round; heartbeats go on beside it, also while the program's callbacks take their time.
 */
class GroupMembership implements Member {
  readonly #parts: MemberParts
  readonly #options: MemberOptions
  readonly #stop = new AbortController()
  #current: Generation | undefined
  #memberId = ''
  #validUntilMs = 0
  #isRejoinWanted = false
  #wake: (() => void) | undefined
  #running: Promise<void> | undefined

  constructor(parts: MemberParts, options: MemberOptions) {
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
    this.#running = this.#run()
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
    if (this.#memberId !== '') {
      // The session ends by itself when this does not get through.
      await this.#parts.home
        .leaveGroup({ groupId: this.#options.groupId, memberId: this.#memberId })
        .catch(() => undefined)
    }
    this.#parts.onClose()
  }

  #wantRejoin(): void {
    this.#isRejoinWanted = true
    this.#wake?.()
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      if (!this.#isRejoinWanted) await this.#untilWoken()
      if (this.#stop.signal.aborted) return
      await this.#revoke()
      await this.#roundUntilJoined(false)
    }
  }

  #untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
      if (this.#isRejoinWanted || this.#stop.signal.aborted) this.#wake()
    })
  }

  async #revoke(): Promise<void> {
    if (!this.#current) return
    await this.#guarded('revoked', () => this.#options.protocol.revoked?.())
    this.#current = undefined
  }

  async #roundUntilJoined(isFirst: boolean): Promise<void> {
    for (let attempt = 0; !this.#stop.signal.aborted; attempt++) {
      try {
        this.#isRejoinWanted = false
        return await this.#round()
      } catch (error) {
        if (isFirst && !isPassing(error)) throw error
        this.#forgetWhenUnknown(error)
        const waitMs = isRebalance(error) ? 0 : backoffMs(BACKOFF, attempt)
        if (waitMs > 0)
          this.#parts.logger.warn(
            { err: error, groupId: this.#options.groupId, waitMs },
            'could not join the group: trying again',
          )
        await this.#parts.clock.sleep(waitMs, this.#stop.signal).catch(() => undefined)
      }
    }
  }

  async #round(): Promise<void> {
    const { home } = this.#parts
    const { groupId, protocol, protocolType } = this.#options
    const joined = await home.joinGroup({
      groupId,
      protocolType,
      protocols: protocol.offer(),
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
    const assignment = await home.syncGroup({ groupId, generation, memberId, assignments })
    this.#extend(sentMs)
    const current: Generation = { generation, memberId, leaderId, protocol: joined.protocol, assignment }
    this.#current = current
    void this.#beat(current)
    await this.#guarded('joined', () => protocol.joined(current))
  }

  /** Heartbeats of one generation; ends with it. */
  async #beat(generation: Generation): Promise<void> {
    const { home, clock } = this.#parts
    const { groupId, heartbeatMs = HEARTBEAT_MS } = this.#options
    while (this.#current === generation && !this.#stop.signal.aborted) {
      await clock.sleep(heartbeatMs, this.#stop.signal).catch(() => undefined)
      if (this.#current !== generation || this.#stop.signal.aborted) return
      const sentMs = clock.monotonicMs()
      try {
        await home.heartbeat({ groupId, generation: generation.generation, memberId: generation.memberId })
        this.#extend(sentMs)
      } catch (error) {
        await this.#missed(error, sentMs)
      }
    }
  }

  async #missed(error: unknown, sentMs: number): Promise<void> {
    if (isRebalance(error)) {
      this.#extend(sentMs)
      this.#wantRejoin()
    } else if (isGone(error)) await this.#lose(error as Error)
    else if (this.#parts.clock.monotonicMs() > this.#validUntilMs) await this.#lose(error as Error)
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
    await this.#guarded('lost', () => this.#options.protocol.lost?.(error))
    this.#wantRejoin()
  }

  #forgetWhenUnknown(error: unknown): void {
    if (error instanceof BrokerError && (error.code === 'unknown_member' || error.code === 'fenced'))
      this.#memberId = ''
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
  return (
    error instanceof BrokerError &&
    (error.code === 'unknown_member' || error.code === 'illegal_generation' || error.code === 'fenced')
  )
}

function isPassing(error: unknown): boolean {
  return error instanceof BrokerError && (error.retriable || isGone(error))
}
