import type { Broker, Generation, GroupMembership, JoinedMember, PartitionOffset } from '../../broker/broker.ts'
import type { TaskId } from '../../clients/worker-client.ts'
import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { taskKey } from '../model/task-key.ts'
import {
  type AssignorState,
  applyWorkChange,
  assignWork,
  countMoved,
  toWorkerMembers,
  type WorkChange,
  type WorkerMember,
} from './assignor.ts'
import { ConfigCatchUp } from './config-catch-up.ts'
import {
  ASSIGNMENT_ERROR,
  type ConnectorsAndTasks,
  encodeWorkerAssignment,
  encodeWorkerMetadata,
  NO_WORK,
  PROTOCOL_VERSION,
  type ProtocolName,
  parseWorkerAssignment,
  type WorkerAssignment,
} from './connect-protocol.ts'
import { joinAfterForeignMembers } from './foreign-members.ts'
import { RebalanceBackoff } from './rebalance-backoff.ts'
import { type RebalanceMetrics, RebalanceTimes } from './rebalance-times.ts'

export type WorkerGroupOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly clock: Clock
  readonly groupId: string
  readonly clientId: string
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly heartbeatMs: number
  /** How long work of a departed worker stays unassigned for its return, in ms. */
  readonly delayMsMax: number
  /** In order of preference. */
  readonly protocols: readonly ProtocolName[]
  /** URL of this worker's REST API, with a trailing slash. */
  readonly url: string
  /** The offset up to which this worker has read the config topic. */
  readonly configOffset: () => number
  /** Reads the config topic to its end. */
  readonly readConfigs: () => Promise<void>
  /** All configured work, as far as the config topic has been read. */
  readonly configuredWork: () => ConnectorsAndTasks
  /**
   * Called after a rebalance, when `work` is this worker's assignment, and when this worker has caught up with the config topic later.
   * Awaited before the next rebalance begins.
   */
  readonly onAssigned: () => Promise<void>
  /** Called when this worker was removed from the group; its work may be assigned to others. */
  readonly onLost: () => Promise<void>
}

/** This worker's membership of its group: who is the leader, and which work is assigned to this worker. */
export class WorkerGroup {
  readonly #options: WorkerGroupOptions
  #member: GroupMembership | undefined
  #generation: Generation | undefined
  readonly #rebalances: RebalanceTimes
  readonly #catchUp: ConfigCatchUp
  /** The last assignment, with all current work of this worker as `assigned`. */
  #assignment: WorkerAssignment | undefined
  readonly #ownedKeys = new Set<string>()
  /** On the leader: the result of the last rebalance. */
  #assignorState: AssignorState | undefined
  #assignedWork: ConnectorsAndTasks = NO_WORK
  /** On the leader: the tasks that the last rebalance revoked. Undefined if it assigned nothing, because a member lagged behind the config topic. */
  #revokedTasks: readonly TaskId[] | undefined
  /** On the leader: the URL of each connector and task. Computed on demand, because its cost grows with all work. */
  #owners: () => ReadonlyMap<string, string> = () => new Map()
  #otherUrls: readonly string[] = []
  /** Aborts the wait for the reassignment of delayed work. */
  #rejoinDelay = new AbortController()
  /** On the leader: when it began the assignment, and how many connectors and tasks that moves. */
  #assigning: { readonly sinceMs: number; readonly moved: number } | undefined
  readonly #backoff = new RebalanceBackoff()
  #nextCheckMs = 0
  #isCheckScheduled = false
  readonly #leaving = new AbortController()

  private constructor(options: WorkerGroupOptions) {
    this.#options = options
    this.#rebalances = new RebalanceTimes(options.clock.monotonicMs())
    this.#catchUp = new ConfigCatchUp(options)
  }

  /** Resolves after the first rebalance. */
  static async join(options: WorkerGroupOptions): Promise<WorkerGroup> {
    const group = new WorkerGroup(options)
    group.#member = await group.#becomeMember()
    return group
  }

  #becomeMember(): Promise<GroupMembership> {
    const { groupId, sessionTimeoutMs, clock, logger } = this.#options
    return joinAfterForeignMembers(() => this.#joinGroup(), {
      groupId,
      sessionTimeoutMs,
      clock,
      logger,
      signal: this.#leaving.signal,
    })
  }

  #joinGroup(): Promise<GroupMembership> {
    const { broker, groupId, protocols } = this.#options
    return broker.joinGroup({
      groupId,
      protocolType: 'connect',
      sessionTimeoutMs: this.#options.sessionTimeoutMs,
      rebalanceTimeoutMs: this.#options.rebalanceTimeoutMs,
      heartbeatMs: this.#options.heartbeatMs,
      clientId: this.#options.clientId,
      protocol: {
        protocols: () => {
          this.#rebalances.begin(this.#options.clock.monotonicMs())
          return protocols.map((name) => ({ name: PROTOCOL_PREFIX + name, metadata: this.#metadata(name) }))
        },
        assign: (protocol, members, self) => this.#assign(protocol, members, self),
        onJoined: (generation) => this.#handleAssignment(generation),
        onLost: () => this.#handleLoss(),
      },
    })
  }

  get work(): ConnectorsAndTasks {
    return this.#assignment?.assigned ?? NO_WORK
  }

  /** The rebalances that this worker took part in, and whether one is in progress. */
  get rebalances(): RebalanceMetrics {
    return this.#rebalances.metrics(this.#options.clock.monotonicMs())
  }

  /** Of the last membership, if it was lost. */
  get generation(): number {
    return this.#generation?.generation ?? 0
  }

  /** False as soon as another worker may have become the leader, and until this one has read what the former leader has stored. */
  get isLeader(): boolean {
    return this.#ledLastRebalance && this.#catchUp.isDone && this.#isMember
  }

  /**
   * Whether this worker may start its work: not when others may have been assigned it, nor while its configurations are older than those
   * of the assignment, to which the work of the other workers belongs.
   */
  get mayStartWork(): boolean {
    const hasRead = (this.#assignment?.configOffset ?? 0) <= this.#options.configOffset()
    return this.#isMember && (this.#catchUp.isDone || hasRead)
  }

  /** False as soon as the coordinator may have removed this worker. */
  get #isMember(): boolean {
    const validUntilMs = this.#member?.validUntilMs() ?? Number.POSITIVE_INFINITY
    return this.#options.clock.monotonicMs() < validUntilMs
  }

  get #ledLastRebalance(): boolean {
    return this.#assignment !== undefined && this.#generation?.leaderId === this.#generation?.memberId
  }

  /** Whether internal requests of this group must be signed. */
  get isSigned(): boolean {
    return this.#generation?.protocol === `${PROTOCOL_PREFIX}sessioned`
  }

  /** Undefined while the leader is unknown. */
  get leaderUrl(): string | undefined {
    return this.#assignment?.leaderUrl
  }

  /** Whether this connector or task is assigned to this worker. */
  has(owned: string | TaskId): boolean {
    return this.#ownedKeys.has(ownedKey(owned))
  }

  /**
   * The URL of the worker that runs this connector or task. Known to the leader only; undefined while it is unassigned.
   */
  urlOf(owned: string | TaskId): string | undefined {
    return this.#owners().get(ownedKey(owned))
  }

  /** On the leader: whether all tasks of a stopped connector have ended. A worker ends its revoked tasks before it joins the next rebalance. */
  haveTasksEnded(connector: string): boolean {
    const isOwn = (task: TaskId) => task.connector === connector
    return this.isLeader && this.#revokedTasks?.some(isOwn) === false && !this.#assignedWork.tasks.some(isOwn)
  }

  /** The URLs of the other workers. Known to the leader only. */
  get otherUrls(): readonly string[] {
    return this.#otherUrls
  }

  /**
   * Requests a rebalance if the configured work has changed. Only the leader of the last rebalance knows what was
   * assigned. It requests one even if its leadership has expired, because no successor may exist that would.
   */
  rebalanceIfWorkChanged(): void {
    if (this.#isCheckScheduled || !this.#ledLastRebalance) return
    const waitMs = this.#nextCheckMs - this.#options.clock.monotonicMs()
    // Compared after the wait, because the cost of the comparison grows with all work.
    if (waitMs > 0) this.#checkLater(waitMs)
    else if (!sameWork(this.#options.configuredWork(), this.#assignedWork)) this.#rejoin('the configured work changed')
  }

  #checkLater(ms: number): void {
    this.#isCheckScheduled = true
    this.#options.clock.sleep(ms, this.#leaving.signal).then(
      () => {
        this.#isCheckScheduled = false
        this.rebalanceIfWorkChanged()
      },
      () => undefined,
    )
  }

  /** Commits offsets of the worker's topics to the group, if this worker is the leader. */
  async saveProgress(positions: readonly PartitionOffset[]): Promise<void> {
    if (this.isLeader) await this.#member?.commit(positions)
  }

  #rejoin(reason: string): void {
    this.#member?.rejoin(reason)
  }

  async leave(): Promise<void> {
    this.#rejoinDelay.abort()
    this.#catchUp.close()
    this.#leaving.abort()
    await this.#member?.close()
  }

  #metadata(protocol: ProtocolName): Buffer {
    const { url, configOffset } = this.#options
    const isIdle = this.work.connectors.length === 0 && this.work.tasks.length === 0
    return encodeWorkerMetadata(protocol, {
      url,
      configOffset: configOffset(),
      assignment: isIdle ? null : (this.#assignment ?? null),
    })
  }

  async #assign(
    protocol: string,
    members: readonly JoinedMember[],
    { memberId: leaderId, generation }: { readonly memberId: string; readonly generation: number },
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const sinceMs = this.#options.clock.monotonicMs()
    const name = protocolOf(protocol)
    const workers = toWorkerMembers(members)
    this.#otherUrls = workers.map(({ metadata }) => metadata.url).filter((other) => other !== this.#options.url)
    const newestOffset = Math.max(...workers.map(({ metadata }) => metadata.configOffset))
    const { url, configOffset } = this.#options
    // Also if no member has read more: the former leader may have left.
    await this.#catchUp.attempt()
    const lagsBehind = !this.#catchUp.isDone && configOffset() < newestOffset
    const { changes, delayMs } = lagsBehind ? NO_CHANGES : this.#balance(workers, generation)
    this.#revokedTasks = lagsBehind ? undefined : [...changes.values()].flatMap(({ revoked }) => revoked.tasks)
    this.#assigning = { sinceMs, moved: countMoved(changes.values()) }
    const shared = {
      error: lagsBehind ? ASSIGNMENT_ERROR.configMismatch : ASSIGNMENT_ERROR.none,
      leaderId,
      leaderUrl: url,
      configOffset: lagsBehind ? newestOffset : configOffset(),
      delayMs,
    }
    return new Map(
      workers.map(({ memberId }) => [
        memberId,
        encodeWorkerAssignment(name, { ...shared, ...(changes.get(memberId) ?? NO_CHANGE) }),
      ]),
    )
  }

  #balance(workers: readonly WorkerMember[], generation: number) {
    const { configuredWork: configured, clock, delayMsMax } = this.#options
    this.#assignedWork = configured()
    const input = { generation, configured: this.#assignedWork, workers, nowMs: clock.monotonicMs(), delayMsMax }
    const { changes, delayMs, state } = assignWork(input, this.#assignorState)
    this.#assignorState = state
    let owners: ReadonlyMap<string, string> | undefined
    this.#owners = () => {
      owners ??= ownersOf(workers, changes)
      return owners
    }
    return { changes, delayMs }
  }

  async #handleAssignment(generation: Generation): Promise<void> {
    const assignment = parseWorkerAssignment(generation.assignment)
    this.#generation = generation
    this.#rebalances.end(this.#options.clock.monotonicMs())
    this.#rejoinDelay.abort()
    const isLeader = generation.leaderId === generation.memberId
    if (!isLeader) this.#catchUp.require(assignment.configOffset)
    if (!this.#catchUp.isDone) await this.#catchUp.attempt()
    this.#assignment = {
      ...assignment,
      assigned: applyWorkChange(this.work, assignment),
      revoked: NO_WORK,
      error: ASSIGNMENT_ERROR.none,
    }
    const { assigned, revoked } = assignment
    for (const owned of [...revoked.connectors, ...revoked.tasks]) this.#ownedKeys.delete(ownedKey(owned))
    for (const owned of [...assigned.connectors, ...assigned.tasks]) this.#ownedKeys.add(ownedKey(owned))
    const backoffMs = this.#backoffAfterRebalance()
    try {
      await this.#options.onAssigned()
    } finally {
      this.#nextCheckMs = this.#options.clock.monotonicMs() + backoffMs
      this.#requestFollowUp(assignment)
      if (!this.#catchUp.isDone && this.#assignment !== undefined) void this.#catchUp.repeat(this.#options.onAssigned)
    }
  }

  #backoffAfterRebalance(): number {
    const nowMs = this.#options.clock.monotonicMs()
    const { sinceMs, moved } = this.#assigning ?? { sinceMs: nowMs, moved: 0 }
    this.#assigning = undefined
    return this.#backoff.after({ sinceMs, nowMs, moved })
  }

  /** Requests the next rebalance where this one requires it. */
  #requestFollowUp({ error, revoked, delayMs }: WorkerAssignment): void {
    if (error !== ASSIGNMENT_ERROR.none) this.#rejoin('the leader had not read all configurations')
    // Revoked work can be assigned to other workers only by another rebalance.
    else if (revoked.connectors.length > 0 || revoked.tasks.length > 0) this.#rejoin('work was revoked')
    else if (delayMs > 0) this.#rejoinAfter(delayMs)
    this.rebalanceIfWorkChanged()
  }

  /** Called on every worker, because the departed worker may have been the leader. */
  #rejoinAfter(delayMs: number): void {
    this.#rejoinDelay = new AbortController()
    this.#options.clock.sleep(delayMs, this.#rejoinDelay.signal).then(
      () => this.#rejoin('the delay for the work of a lost worker has passed'),
      () => undefined,
    )
  }

  async #handleLoss(): Promise<void> {
    this.#rejoinDelay.abort()
    this.#catchUp.stop()
    this.#assignment = undefined
    this.#ownedKeys.clear()
    await this.#options.onLost()
  }
}

const NO_CHANGE: WorkChange = { assigned: NO_WORK, revoked: NO_WORK }
const NO_CHANGES = { changes: new Map<string, WorkChange>(), delayMs: 0 }

function ownersOf(workers: readonly WorkerMember[], changes: ReadonlyMap<string, WorkChange>): Map<string, string> {
  return new Map(
    workers.flatMap(({ memberId, metadata }) => {
      const held = metadata.assignment?.assigned ?? NO_WORK
      const { connectors, tasks } = applyWorkChange(held, changes.get(memberId) ?? NO_CHANGE)
      return [...connectors, ...tasks].map((owned) => [ownedKey(owned), metadata.url] as const)
    }),
  )
}

/** The same work in another order is a difference: that rare case costs a rebalance, while sets would cost time at each check. */
function sameWork(a: ConnectorsAndTasks, b: ConnectorsAndTasks): boolean {
  if (a.connectors.length !== b.connectors.length || a.tasks.length !== b.tasks.length) return false
  return (
    a.connectors.every((name, at) => name === b.connectors[at]) &&
    a.tasks.every(({ connector, task }, at) => connector === b.tasks[at]!.connector && task === b.tasks[at]!.task)
  )
}

function ownedKey(owned: string | TaskId): string {
  return typeof owned === 'string' ? `connector ${owned}` : `task ${taskKey(owned)}`
}

/**
 * Prefix of the protocol names. Java workers and these can share topics but not a group, because neither could run the
 * connectors of the other. With different protocol names, the coordinator admits only one kind.
 */
const PROTOCOL_PREFIX = 'weir-'

function protocolOf(offered: string): ProtocolName {
  const name = offered.slice(PROTOCOL_PREFIX.length)
  if (offered.startsWith(PROTOCOL_PREFIX) && name in PROTOCOL_VERSION) return name as ProtocolName
  throw new Error(`the group agreed on the protocol '${offered}', which this worker does not support`)
}
