import type { Broker, Generation, JoinedMember, Member } from '../broker/broker.ts'
import type { Logger } from '../config/logger.ts'
import { shareWork, toGroupWorkers } from './assignment.ts'
import {
  ASSIGNMENT_ERROR,
  type Assignment,
  NO_WORK,
  PROTOCOL_VERSION,
  type ProtocolName,
  parseAssignment,
  toAssignment,
  toMetadata,
  type Work,
} from './assignment-codec.ts'
import { taskKey } from './plan.ts'

export type GroupOptions = {
  readonly broker: Broker
  readonly logger: Logger
  readonly groupId: string
  readonly clientId: string
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly heartbeatMs: number
  /** Best first. */
  readonly protocols: readonly ProtocolName[]
  /** Where this worker answers, with a slash at the end. */
  readonly url: string
  /** How far this worker has read the config topic. */
  readonly configOffset: () => number
  readonly readConfigs: () => Promise<void>
  /** All work there is, as far as the config topic was read. */
  readonly configured: () => Work
  /** A round is over: this worker's share stands in `work`. Awaited before the next one begins. */
  readonly onWork: () => Promise<void>
  /** Out of the group: others may be given the work now. */
  readonly onLost: () => Promise<void>
}

/** This worker's place among those of its group: who leads, and what this one has to run. */
export class WorkerGroup {
  readonly #options: GroupOptions
  #member: Member | undefined
  #generation: Generation | undefined
  /** The last assignment, with everything that this worker has by now as `assigned`. */
  #holds: Assignment | undefined

  private constructor(options: GroupOptions) {
    this.#options = options
  }

  /** Returns after the first round. */
  static async join(options: GroupOptions): Promise<WorkerGroup> {
    const group = new WorkerGroup(options)
    group.#member = await options.broker.member({
      groupId: options.groupId,
      protocolType: 'connect',
      sessionTimeoutMs: options.sessionTimeoutMs,
      rebalanceTimeoutMs: options.rebalanceTimeoutMs,
      heartbeatMs: options.heartbeatMs,
      clientId: options.clientId,
      protocol: {
        offer: () => options.protocols.map((name) => ({ name, metadata: group.#metadata(name) })),
        assign: (protocol, members, self) => group.#assign(protocol, members, self.memberId),
        joined: (generation) => group.#joined(generation),
        lost: () => group.#lost(),
      },
    })
    return group
  }

  get work(): Work {
    return this.#holds?.assigned ?? NO_WORK
  }

  get generation(): number {
    return this.#generation?.generation ?? 0
  }

  get isLeader(): boolean {
    return this.#generation !== undefined && this.#generation.leaderId === this.#generation.memberId
  }

  /** Undefined while nobody is known to lead. */
  get leaderUrl(): string | undefined {
    return this.#holds?.leaderUrl
  }

  /** Asks for a new round. */
  rejoin(reason: string): void {
    this.#member?.rejoin(reason)
  }

  async leave(): Promise<void> {
    await this.#member?.close()
  }

  #metadata(protocol: ProtocolName): Buffer {
    const { url, configOffset } = this.#options
    const isIdle = this.work.connectors.length === 0 && this.work.tasks.length === 0
    return toMetadata(protocol, { url, configOffset: configOffset(), holds: isIdle ? null : (this.#holds ?? null) })
  }

  async #assign(
    protocol: string,
    members: readonly JoinedMember[],
    leaderId: string,
  ): Promise<ReadonlyMap<string, Uint8Array>> {
    const name = protocolOf(protocol)
    const workers = toGroupWorkers(members)
    const newest = Math.max(...workers.map(({ metadata }) => metadata.configOffset))
    if (this.#options.configOffset() < newest) await this.#catchUp()
    const { url, configOffset, configured } = this.#options
    const isBehind = configOffset() < newest
    const round = {
      error: isBehind ? ASSIGNMENT_ERROR.configMismatch : ASSIGNMENT_ERROR.none,
      leaderId,
      leaderUrl: url,
      configOffset: isBehind ? newest : configOffset(),
      delayMs: 0,
    }
    const shares = isBehind ? new Map() : shareWork(configured(), workers)
    return new Map(
      workers.map(({ memberId }) => {
        const { assigned, revoked } = shares.get(memberId) ?? { assigned: NO_WORK, revoked: NO_WORK }
        return [memberId, toAssignment(name, { ...round, assigned, revoked })]
      }),
    )
  }

  async #joined(generation: Generation): Promise<void> {
    const told = parseAssignment(generation.assignment)
    this.#generation = generation
    if (told.configOffset > this.#options.configOffset()) await this.#catchUp()
    const isMismatch = told.error !== ASSIGNMENT_ERROR.none
    this.#holds = { ...told, assigned: merge(this.work, told), revoked: NO_WORK, error: ASSIGNMENT_ERROR.none }
    await this.#options.onWork()
    // What was given up here can be given to others only in a round of its own.
    const isShrunk = told.revoked.connectors.length > 0 || told.revoked.tasks.length > 0
    if (isMismatch || isShrunk)
      this.rejoin(isMismatch ? 'the leader had not read all configurations' : 'work was given up')
  }

  async #lost(): Promise<void> {
    this.#generation = undefined
    this.#holds = undefined
    await this.#options.onLost()
  }

  /** Being behind is not fatal: the round tells who is, and another one follows. */
  async #catchUp(): Promise<void> {
    try {
      await this.#options.readConfigs()
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'the config topic could not be read to its end')
    }
  }
}

function merge(held: Work, { assigned, revoked }: Assignment): Work {
  const goneConnectors = new Set(revoked.connectors)
  const goneTasks = new Set(revoked.tasks.map(taskKey))
  const tasks = new Map(
    [...held.tasks.filter((id) => !goneTasks.has(taskKey(id))), ...assigned.tasks].map((id) => [taskKey(id), id]),
  )
  return {
    connectors: [...new Set([...held.connectors.filter((name) => !goneConnectors.has(name)), ...assigned.connectors])],
    tasks: [...tasks.values()],
  }
}

function protocolOf(name: string): ProtocolName {
  if (name in PROTOCOL_VERSION) return name as ProtocolName
  throw new Error(`the group agreed on the protocol '${name}', which this worker does not speak`)
}
