import type { JoinedMember } from '../../broker/broker.ts'
import type { TaskId } from '../../clients/worker.ts'
import { taskKey } from '../model/task-key.ts'
import { type ConnectorsAndTasks, NO_WORK, parseWorkerMetadata, type WorkerMetadata } from './connect-protocol.ts'

/** A worker of the group, as the leader receives it in a rebalance. */
export type WorkerMember = { readonly memberId: string; readonly metadata: WorkerMetadata }

/** The connectors and tasks that a rebalance adds to and removes from one worker. */
export type WorkChange = { readonly assigned: ConnectorsAndTasks; readonly revoked: ConnectorsAndTasks }

export type RebalanceInput = {
  readonly generation: number
  readonly configured: ConnectorsAndTasks
  readonly workers: readonly WorkerMember[]
  readonly nowMs: number
  /** `scheduled.rebalance.max.delay.ms`: how long work of a departed worker stays unassigned for its return. */
  readonly delayMsMax: number
}

/**
 * The leader's state between rebalances. Valid only for the next generation, because another worker may have led since.
 */
export type AssignorState = {
  readonly generation: number
  /** All work that is assigned, or unassigned until the delay ends. */
  readonly assigned: ConnectorsAndTasks
  /** The number of workers before any departed. */
  readonly workerCount: number
  /** When delayed work is reassigned, in ms of the monotonic clock. Undefined when no work is delayed. */
  readonly reassignAtMs: number | undefined
}

export type RebalanceResult = {
  readonly changes: ReadonlyMap<string, WorkChange>
  /** Time until the rebalance that reassigns delayed work, in ms; 0 when no work is delayed. */
  readonly delayMs: number
  readonly state: AssignorState
}

export function toWorkerMembers(members: readonly JoinedMember[]): readonly WorkerMember[] {
  return members.map(({ memberId, metadata }) => ({ memberId, metadata: parseWorkerMetadata(metadata) }))
}

/**
 * Assigns the configured work incrementally (cooperative rebalancing): workers keep their work except for a surplus,
 * and unassigned work goes to the worker with the least. Revoked work is assigned only in the next rebalance, after it
 * has stopped. Work of departed workers is delayed until their return or `delayMsMax`; no surplus is revoked meanwhile.
 */
export function assignWork(round: RebalanceInput, before: AssignorState | undefined): RebalanceResult {
  const memory = before?.generation === round.generation - 1 ? before : undefined
  const strength = memory?.workerCount ?? 0
  const dueMs = memory?.reassignAtMs ?? round.nowMs + round.delayMsMax
  const mayWait = round.workers.length < strength && round.nowMs < dueMs
  const connectors = shareOut(CONNECTORS, round, memory, mayWait)
  const tasks = shareOut(TASKS, round, memory, mayWait)
  const waits = connectors.waiting.length > 0 || tasks.waiting.length > 0
  return {
    changes: new Map(
      round.workers.map(({ memberId }) => [
        memberId,
        {
          assigned: workOf(connectors.assigned, tasks.assigned, memberId),
          revoked: workOf(connectors.revoked, tasks.revoked, memberId),
        },
      ]),
    ),
    delayMs: waits ? dueMs - round.nowMs : 0,
    state: {
      generation: round.generation,
      assigned: { connectors: connectors.shared, tasks: tasks.shared },
      workerCount: waits ? strength : round.workers.length,
      reassignAtMs: waits ? dueMs : undefined,
    },
  }
}

/** Connectors and tasks are balanced by the same rules, independently of each other. */
type Kind<Item> = { readonly of: (work: ConnectorsAndTasks) => readonly Item[]; readonly keyOf: (item: Item) => string }
const CONNECTORS: Kind<string> = { of: ({ connectors }) => connectors, keyOf: (name) => name }
const TASKS: Kind<TaskId> = { of: ({ tasks }) => tasks, keyOf: taskKey }

type Shares<Item> = {
  readonly assigned: ReadonlyMap<string, readonly Item[]>
  readonly revoked: ReadonlyMap<string, readonly Item[]>
  readonly waiting: readonly Item[]
  readonly shared: readonly Item[]
}

function shareOut<Item>(
  kind: Kind<Item>,
  round: RebalanceInput,
  memory: AssignorState | undefined,
  mayWait: boolean,
): Shares<Item> {
  const { keyOf } = kind
  const configured = kind.of(round.configured)
  const holders = round.workers
    .map(({ memberId, metadata }) => ({ memberId, items: kind.of(metadata.assignment?.assigned ?? NO_WORK) }))
    .sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  const wanted = new Set(configured.map(keyOf))
  const holdings = new Map<string, number>()
  for (const key of holders.flatMap(({ items }) => items.map(keyOf))) holdings.set(key, (holdings.get(key) ?? 0) + 1)

  const sharedBefore = new Set(memory ? kind.of(memory.assigned).map(keyOf) : [])
  const unheld = configured.filter((item) => !holdings.has(keyOf(item)))
  const waiting = mayWait ? unheld.filter((item) => sharedBefore.has(keyOf(item))) : []
  const given = mayWait ? unheld.filter((item) => !sharedBefore.has(keyOf(item))) : unheld

  // An item that two workers claim is revoked from both; the next rebalance assigns it to one of them.
  const isKept = (item: Item) => wanted.has(keyOf(item)) && holdings.get(keyOf(item)) === 1
  const kept = holders.map(({ memberId, items }) => ({ memberId, items: items.filter(isKept) }))
  const even = waiting.length > 0 ? kept : withoutSurplus(kept, configured.length)
  const assigned = giveOut(given, even)
  return {
    assigned,
    revoked: toRevoked(holders, even),
    waiting,
    shared: [...even.flatMap(({ items }) => items), ...given, ...waiting],
  }
}

type Holder<Item> = { readonly memberId: string; readonly items: readonly Item[] }

/** Limits each worker to its fair share. As many workers as the remainder of the division keep one more item. */
function withoutSurplus<Item>(holders: readonly Holder<Item>[], total: number): readonly Holder<Item>[] {
  const fair = Math.floor(total / Math.max(1, holders.length))
  let extras = total - fair * holders.length
  return holders.map(({ memberId, items }) => {
    const isLarger = items.length > fair && extras > 0
    if (isLarger) extras -= 1
    return { memberId, items: items.slice(0, isLarger ? fair + 1 : fair) }
  })
}

function giveOut<Item>(given: readonly Item[], holders: readonly Holder<Item>[]): Map<string, readonly Item[]> {
  const loads = holders.map(({ memberId, items }) => ({ memberId, load: items.length, assigned: [] as Item[] }))
  for (const item of given) {
    const least = loads.reduce((best, next) => (next.load < best.load ? next : best))
    least.load += 1
    least.assigned.push(item)
  }
  return new Map(loads.map(({ memberId, assigned }) => [memberId, assigned]))
}

function toRevoked<Item>(
  holders: readonly Holder<Item>[],
  left: readonly Holder<Item>[],
): ReadonlyMap<string, readonly Item[]> {
  return new Map(
    holders.map(({ memberId, items }, at) => {
      const stays = new Set(left[at]?.items)
      return [memberId, items.filter((item) => !stays.has(item))]
    }),
  )
}

function workOf(
  connectors: ReadonlyMap<string, readonly string[]>,
  tasks: ReadonlyMap<string, readonly TaskId[]>,
  memberId: string,
): ConnectorsAndTasks {
  return { connectors: connectors.get(memberId) ?? [], tasks: tasks.get(memberId) ?? [] }
}
