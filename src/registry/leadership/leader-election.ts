import type { Broker, Generation, GroupMembership, JoinedMember, PartitionOffset } from '../../broker/broker.ts'
import { type Clock, systemClock } from '../../common/clock.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { electLeader } from './elect-leader.ts'
import { type MemberIdentity, parseAssignment, parseIdentity, urlOf } from './group-protocol.ts'
import type { LeaderWriter } from './leader-writer.ts'

/** The current leader. */
export interface Leadership {
  /** The writer of this instance; undefined if it is not the leader. */
  writer(): LeaderWriter | undefined
  /** The URL of the leader if it is another instance; undefined if this instance is the leader or there is none. */
  leaderUrl(): string | undefined
  /** Why there is no leader, as far as this instance knows: what it could not do when it was elected. */
  problem(): unknown
  /** Called after a write failed. If this instance is the leader, it opens a new writer. */
  replaceWriter(reason: string): void
}

export type LeaderElectionOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly groupId: string
  /** Whether the current leader stays the leader when other instances join. */
  readonly sticky: boolean
  /**
   * Whether this instance is eligible only after the group had no eligible member, because members may be of another
   * kind. Those cannot fence its writer, so it does not write during rebalances either. Default: false.
   */
  readonly isEligibilityDeferred?: boolean
  readonly sessionTimeoutMs?: number
  readonly heartbeatMs?: number
  readonly rebalanceTimeoutMs?: number
  readonly clock?: Clock
}

/** The identity of this instance, and how it opens a writer when it is elected. */
export type LeaderCandidate = {
  readonly identity: Omit<MemberIdentity, 'leader'>
  /** Fences all previous writers, and resolves when the state contains everything that they wrote. */
  readonly openWriter: () => Promise<LeaderWriter>
}

const REJOIN_PAUSE_MS = 1_000

/**
 * The membership of one instance in the group of the registry instances, which elects their leader. Before `join`, the
 * instance is not the leader and knows none. A leader continues to write during a rebalance, unless a new leader could
 * be of another kind: one of Weir fences it before its first write.
 */
export class LeaderElection implements Leadership {
  readonly #options: LeaderElectionOptions
  readonly #clock: Clock
  readonly #stop = new AbortController()
  #candidate: LeaderCandidate | undefined
  #membership: GroupMembership | undefined
  #writer: LeaderWriter | undefined
  #leader: MemberIdentity | undefined
  #isElected = false
  #problem: unknown
  readonly #problems = new ErrorDeduplicator()
  /** Number of the writer that this instance started to open last. Each writer fences the ones before it. */
  #lastWriterNumber = 0
  /** Whether this instance was the leader until the rebalance that is in progress. */
  #wasLeading = false
  /** Whether eligible instances, which may be of another kind, still precede this one. */
  #isDeferred: boolean

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#isDeferred = options.isEligibilityDeferred ?? false
    this.#clock = options.clock ?? systemClock
  }

  /** Joins the group and takes part in its elections. Resolves after the first election. */
  async join(candidate: LeaderCandidate): Promise<void> {
    this.#candidate = candidate
    const { broker, groupId, sessionTimeoutMs, heartbeatMs, rebalanceTimeoutMs } = this.#options
    this.#membership = await broker.joinGroup({
      groupId,
      protocolType: 'sr',
      // By this `weir takeover` tells Weir's instances from others.
      clientId: 'weir-registry',
      ...(sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs }),
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
      ...(rebalanceTimeoutMs === undefined ? {} : { rebalanceTimeoutMs }),
      protocol: {
        protocols: () => [{ name: 'v0', metadata: this.#metadata(candidate) }],
        assign: (_, members) => this.#assign(members),
        onRevoked: () => this.#revoked(),
        onJoined: (generation) => this.#joined(generation),
        onLost: (error) => this.#lost(error),
      },
    })
  }

  /** The writer, if this instance is the leader and its group session cannot have expired. */
  writer(): LeaderWriter | undefined {
    const isValid = this.#membership === undefined || this.#clock.monotonicMs() < this.#membership.validUntilMs()
    return isValid ? this.#writer : undefined
  }

  leaderUrl(): string | undefined {
    return this.#leader && urlOf(this.#leader)
  }

  problem(): unknown {
    return this.#problem
  }

  replaceWriter(reason: string): void {
    void this.#replaceWriter(reason)
  }

  /** Commits the read positions to the consumer group if this instance is the leader. */
  async saveProgress(positions: readonly PartitionOffset[]): Promise<void> {
    if (this.writer()) await this.#membership?.commit(positions)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#resign()
    await this.#membership?.close()
  }

  #metadata({ identity }: LeaderCandidate): Buffer {
    const isEligible = identity.master_eligibility && !this.#isDeferred
    const isLeader = this.#writer !== undefined || this.#wasLeading
    const member: MemberIdentity = { ...identity, master_eligibility: isEligible, leader: isLeader }
    return Buffer.from(JSON.stringify(member))
  }

  #assign(members: readonly JoinedMember[]): ReadonlyMap<string, Uint8Array> {
    const candidates = members.map(({ memberId, metadata }) => ({ memberId, identity: parseIdentity(metadata) }))
    const assignment = Buffer.from(JSON.stringify(electLeader(candidates, this.#options.sticky)))
    return new Map(members.map(({ memberId }) => [memberId, assignment]))
  }

  async #revoked(): Promise<void> {
    if (this.#options.isEligibilityDeferred !== true || !this.#isElected) return
    this.#wasLeading = this.#writer !== undefined
    await this.#resign()
  }

  async #lost(error: Error): Promise<void> {
    this.#wasLeading = false
    // The membership has logged it.
    this.#problem = error
    await this.#resign()
  }

  async #joined({ memberId, assignment }: Generation): Promise<void> {
    this.#wasLeading = false
    const { error, master, master_identity: leader } = parseAssignment(assignment)
    const { logger } = this.#options
    if (error !== 0) {
      logger.error('two instances have the same URL: set host.name so that each instance has a URL of its own')
      await this.#resign()
      return this.#rejoinLater('two instances had the same URL')
    }
    if (master !== memberId) {
      await this.#resign()
      this.#leader = leader ?? undefined
      this.#problem = undefined
      logger.info({ leader: this.leaderUrl() ?? 'none' }, 'following')
      if (master === null && this.#isDeferred) {
        this.#isDeferred = false
        this.#rejoinLater('no eligible instance is left')
      }
      return
    }
    this.#leader = undefined
    this.#isElected = true
    if (!this.#writer) await this.#openWriter('elected')
  }

  async #openWriter(reason: string): Promise<void> {
    const { logger } = this.#options
    this.#lastWriterNumber += 1
    const number = this.#lastWriterNumber
    try {
      const writer = await this.#candidate?.openWriter()
      // Meanwhile, another instance may have been elected, or a later election of this instance may have started to open another writer.
      if (!this.#isElected || number !== this.#lastWriterNumber) return await writer?.close()
      this.#writer = writer
      this.#problem = undefined
      this.#problems.clear()
      logger.info({ reason }, 'leading')
    } catch (error) {
      this.#report(error, `this instance is elected (${reason}), but cannot write to the topic: retrying`)
      this.#rejoinLater('the topic could not be written')
    }
  }

  /**
   * The new writer reads what the old one wrote. If the session may have expired, the group decides who opens a writer: the renewal of the
   * session can be on its way, after which this instance still is the leader.
   */
  async #replaceWriter(reason: string): Promise<void> {
    const old = this.#writer
    const isLeading = this.writer() !== undefined
    this.#writer = undefined
    await old?.close().catch(() => undefined)
    if (old === undefined || this.#stop.signal.aborted) return
    if (isLeading) await this.#openWriter(reason)
    else this.#membership?.rejoin(reason)
  }

  async #resign(): Promise<void> {
    const writer = this.#writer
    this.#isElected = false
    this.#writer = undefined
    this.#leader = undefined
    await writer?.close().catch(() => undefined)
  }

  #report(error: unknown, message: string): void {
    if (!this.#problems.isRepeated(error)) this.#options.logger.error({ err: error }, message)
    this.#problem = error
  }

  #rejoinLater(reason: string): void {
    void this.#clock.sleep(REJOIN_PAUSE_MS, this.#stop.signal).then(
      () => this.#membership?.rejoin(reason),
      () => undefined,
    )
  }
}
