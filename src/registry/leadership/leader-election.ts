import type { Broker, Generation, GroupMembership, JoinedMember, PartitionOffset } from '../../broker/broker.ts'
import { type Clock, systemClock } from '../../config/clock.ts'
import type { Logger } from '../../config/logger.ts'
import type { KeyRecord } from '../dek/key.ts'
import type { RegistryRecord } from '../store/record.ts'
import { electLeader, type MemberIdentity, parseAssignment, parseIdentity, urlOf } from './election.ts'

/** Write access to the topics of the registry. Only one instance, the leader, has it at a time. */
export type LeaderWriter = {
  /**
   * Writes the records in order, in one batch, and resolves when the state contains them. Rejects with a `BrokerError`;
   * after that the writer must be replaced.
   */
  append(records: readonly Exclude<RegistryRecord, { kind: 'none' }>[]): Promise<void>
  /** Writes records to the topic of the DEK registry, as `append` does. */
  appendKeys(records: readonly KeyRecord[]): Promise<void>
  close(): Promise<void>
}

/** The current leader. */
export type Leadership = {
  /** The writer of this instance; undefined if it is not the leader. */
  readonly writer: () => LeaderWriter | undefined
  /** The URL of the leader if it is another instance; undefined if this instance is the leader or there is none. */
  readonly leaderUrl: () => string | undefined
  /** Called after a write failed. If this instance is the leader, it opens a new writer. */
  readonly replaceWriter: (reason: string) => void
}

export type ElectionOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly groupId: string
  readonly identity: Omit<MemberIdentity, 'leader'>
  readonly sticky: boolean
  /** Fences all previous writers, and resolves when the state contains everything that they wrote. */
  readonly openWriter: () => Promise<LeaderWriter>
  readonly sessionTimeoutMs?: number
  readonly heartbeatMs?: number
  readonly rebalanceTimeoutMs?: number
  readonly clock?: Clock
}

export type Election = Leadership & {
  /** Commits the read positions to the consumer group if this instance is the leader. */
  saveProgress(positions: readonly PartitionOffset[]): Promise<void>
  close(): Promise<void>
}

const PAUSE_MS = 1_000

/** Joins the group of the registry instances and takes part in its elections. Resolves after the first election. */
export async function joinElection(options: ElectionOptions): Promise<Election> {
  const office = new LeaderElection(options)
  await office.join()
  return {
    writer: () => office.pen(),
    leaderUrl: () => office.leaderUrl(),
    replaceWriter: (reason) => void office.renewPen(reason),
    saveProgress: (positions) => office.saveProgress(positions),
    close: () => office.close(),
  }
}

/**
 * The membership of one instance in the group. A leader continues to write during a rebalance; a new leader fences it
 * before its first write.
 */
class LeaderElection {
  readonly #options: ElectionOptions
  readonly #clock: Clock
  readonly #stop = new AbortController()
  #member: GroupMembership | undefined
  #pen: LeaderWriter | undefined
  #leader: MemberIdentity | undefined

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async join(): Promise<void> {
    const { broker, groupId, sessionTimeoutMs, heartbeatMs, rebalanceTimeoutMs } = this.#options
    this.#member = await broker.joinGroup({
      groupId,
      protocolType: 'sr',
      clientId: 'sr-1',
      ...(sessionTimeoutMs === undefined ? {} : { sessionTimeoutMs }),
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
      ...(rebalanceTimeoutMs === undefined ? {} : { rebalanceTimeoutMs }),
      protocol: {
        protocols: () => [{ name: 'v0', metadata: Buffer.from(JSON.stringify(this.#identity())) }],
        assign: (_, members) => this.#assign(members),
        onJoined: (generation) => this.#joined(generation),
        onLost: () => this.#resign(),
      },
    })
  }

  /** The writer, if this instance is the leader and its group session cannot have expired. */
  pen(): LeaderWriter | undefined {
    const valid = this.#member === undefined || this.#clock.monotonicMs() < this.#member.validUntilMs()
    return valid ? this.#pen : undefined
  }

  leaderUrl(): string | undefined {
    return this.#leader && urlOf(this.#leader)
  }

  /**
   * Closes the writer and opens a new one, because this instance is still the leader. Opening it reads what the old one
   * wrote.
   */
  async renewPen(reason: string): Promise<void> {
    const pen = this.pen()
    this.#pen = undefined
    await pen?.close().catch(() => undefined)
    if (pen && !this.#stop.signal.aborted) await this.#takePen(reason)
  }

  async saveProgress(positions: readonly PartitionOffset[]): Promise<void> {
    if (this.pen()) await this.#member?.commit(positions)
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#resign()
    await this.#member?.close()
  }

  #identity(): MemberIdentity {
    return { ...this.#options.identity, leader: this.#pen !== undefined }
  }

  #assign(members: readonly JoinedMember[]): ReadonlyMap<string, Uint8Array> {
    const candidates = members.map(({ memberId, metadata }) => ({ memberId, identity: parseIdentity(metadata) }))
    const assignment = Buffer.from(JSON.stringify(electLeader(candidates, this.#options.sticky)))
    return new Map(members.map(({ memberId }) => [memberId, assignment]))
  }

  async #joined({ memberId, assignment }: Generation): Promise<void> {
    const { error, master, master_identity: leader } = parseAssignment(assignment)
    const { logger } = this.#options
    if (error !== 0) {
      logger.error('two instances say that they answer at one address: set host.name so that they differ')
      await this.#resign()
      return this.#rejoinLater('two instances had one address')
    }
    if (master !== memberId) {
      await this.#resign()
      this.#leader = leader ?? undefined
      logger.info({ leader: this.leaderUrl() ?? 'none' }, 'following')
      return
    }
    this.#leader = undefined
    if (!this.#pen) await this.#takePen('elected')
  }

  async #takePen(reason: string): Promise<void> {
    const { logger, openWriter: openPen } = this.#options
    try {
      this.#pen = await openPen()
      logger.info({ reason }, 'leading')
    } catch (failure) {
      logger.error({ err: failure, reason }, 'this instance has to lead, but can not write: trying again')
      this.#rejoinLater('the topic could not be written')
    }
  }

  async #resign(): Promise<void> {
    const pen = this.#pen
    this.#pen = undefined
    this.#leader = undefined
    await pen?.close().catch(() => undefined)
  }

  #rejoinLater(reason: string): void {
    void this.#clock.sleep(PAUSE_MS, this.#stop.signal).then(
      () => this.#member?.rejoin(reason),
      () => undefined,
    )
  }
}
