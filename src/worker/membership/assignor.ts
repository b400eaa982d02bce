import type { JoinedMember } from '../../broker/broker.ts'
import type { TaskId } from '../../clients/worker-client.ts'
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

/** The work of one worker after a rebalance. */
export function applyWorkChange(held: ConnectorsAndTasks, change: WorkChange): ConnectorsAndTasks {
  const { connectors, tasks } = change.assigned
  const moved = [...connectors, ...change.revoked.connectors]
  const movedTasks = [...tasks, ...change.revoked.tasks]
  return {
    connectors: [...without(held.connectors, CONNECTORS, moved), ...connectors],
    tasks: [...without(held.tasks, TASKS, movedTasks), ...tasks],
  }
}

/** Computes keys only for the items of connectors that are in `removed`, because usually few of many items are. */
function without<Item>(items: readonly Item[], { keyOf, connectorOf }: Kind<Item>, removed: readonly Item[]) {
  if (removed.length === 0) return items
  const connectors = new Set(removed.map(connectorOf))
  const keys = new Set(removed.map(keyOf))
  return items.filter((item) => !connectors.has(connectorOf(item)) || !keys.has(keyOf(item)))
}

/** The number of connectors and tasks that are assigned or revoked. */
export function countMoved(changes: Iterable<WorkChange>): number {
  let sum = 0
  for (const { assigned, revoked } of changes) {
    for (const { connectors, tasks } of [assigned, revoked]) sum += connectors.length + tasks.length
  }
  return sum
}

/**
 * Assigns the configured work incrementally (cooperative rebalancing): workers keep their work except for a surplus,
 * and unassigned work goes to the worker with the least. Revoked work is assigned only in the next rebalance, after it
 * has stopped. Work of departed workers is delayed until their return or `delayMsMax`; no surplus is revoked meanwhile.
 */
export function assignWork(input: RebalanceInput, previous: AssignorState | undefined): RebalanceResult {
  const state = previous?.generation === input.generation - 1 ? previous : undefined
  const fullWorkerCount = state?.workerCount ?? 0
  const reassignAtMs = state?.reassignAtMs ?? input.nowMs + input.delayMsMax
  const mayDelay = input.workers.length < fullWorkerCount && input.nowMs < reassignAtMs
  const connectors = balance(CONNECTORS, input, state, mayDelay)
  const tasks = balance(TASKS, input, state, mayDelay)
  const isDelayed = connectors.delayed.length > 0 || tasks.delayed.length > 0
  return {
    changes: new Map(
      input.workers.map(({ memberId }) => [
        memberId,
        {
          assigned: workOf(connectors.assigned, tasks.assigned, memberId),
          revoked: workOf(connectors.revoked, tasks.revoked, memberId),
        },
      ]),
    ),
    delayMs: isDelayed ? reassignAtMs - input.nowMs : 0,
    state: {
      generation: input.generation,
      assigned: { connectors: connectors.result, tasks: tasks.result },
      workerCount: isDelayed ? fullWorkerCount : input.workers.length,
      reassignAtMs: isDelayed ? reassignAtMs : undefined,
    },
  }
}

/** Connectors and tasks are balanced by the same rules, independently of each other. */
type Kind<Item> = {
  readonly of: (work: ConnectorsAndTasks) => readonly Item[]
  readonly keyOf: (item: Item) => string
  readonly connectorOf: (item: Item) => string
}
const CONNECTORS: Kind<string> = {
  of: ({ connectors }) => connectors,
  keyOf: (name) => name,
  connectorOf: (name) => name,
}
const TASKS: Kind<TaskId> = { of: ({ tasks }) => tasks, keyOf: taskKey, connectorOf: ({ connector }) => connector }

type BalanceResult<Item> = {
  readonly assigned: ReadonlyMap<string, readonly Item[]>
  readonly revoked: ReadonlyMap<string, readonly Item[]>
  readonly delayed: readonly Item[]
  readonly result: readonly Item[]
}

function balance<Item>(
  kind: Kind<Item>,
  input: RebalanceInput,
  state: AssignorState | undefined,
  mayDelay: boolean,
): BalanceResult<Item> {
  const { keyOf } = kind
  const configured = kind.of(input.configured)
  const workers = input.workers
    .map(({ memberId, metadata }) => ({ memberId, items: kind.of(metadata.assignment?.assigned ?? NO_WORK) }))
    .sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  // Each key is computed once here, because all items pass through this function in each rebalance.
  const claims = new Map<string, number>(configured.map((item) => [keyOf(item), 0]))
  const keys = workers.map(({ items }) => items.map(keyOf))
  for (const key of keys.flat()) {
    const count = claims.get(key)
    if (count !== undefined) claims.set(key, count + 1)
  }

  const unclaimed = configured.filter((item) => claims.get(keyOf(item)) === 0)
  const assignedBefore = new Set(mayDelay && state ? kind.of(state.assigned).map(keyOf) : [])
  const delayed = unclaimed.filter((item) => assignedBefore.has(keyOf(item)))
  const unassigned = unclaimed.filter((item) => !assignedBefore.has(keyOf(item)))

  // An item that two workers claim is revoked from both; the next rebalance assigns it to one of them.
  const kept = workers.map(({ memberId, items }, worker) => ({
    memberId,
    items: items.filter((_, at) => claims.get(keys[worker]![at]!) === 1),
  }))
  const balanced = delayed.length > 0 ? kept : withoutSurplus(kept, configured.length)
  const assigned = assignToLeastLoaded(unassigned, balanced)
  return {
    assigned,
    revoked: toRevoked(workers, balanced),
    delayed,
    result: [...balanced.flatMap(({ items }) => items), ...unassigned, ...delayed],
  }
}

type WorkerItems<Item> = { readonly memberId: string; readonly items: readonly Item[] }

/** Limits each worker to its fair share. As many workers as the remainder of the division keep one more item. */
function withoutSurplus<Item>(workers: readonly WorkerItems<Item>[], total: number): readonly WorkerItems<Item>[] {
  const fairShare = Math.floor(total / Math.max(1, workers.length))
  let extras = total - fairShare * workers.length
  return workers.map(({ memberId, items }) => {
    const isLarger = items.length > fairShare && extras > 0
    if (isLarger) extras -= 1
    return { memberId, items: items.slice(0, isLarger ? fairShare + 1 : fairShare) }
  })
}

/** Assigns each item to the worker with the fewest items. */
function assignToLeastLoaded<Item>(
  unassigned: readonly Item[],
  workers: readonly WorkerItems<Item>[],
): Map<string, readonly Item[]> {
  const loads = workers.map(({ memberId, items }) => ({ memberId, load: items.length, assigned: [] as Item[] }))
  for (const item of unassigned) {
    const least = loads.reduce((best, next) => (next.load < best.load ? next : best))
    least.load += 1
    least.assigned.push(item)
  }
  return new Map(loads.map(({ memberId, assigned }) => [memberId, assigned]))
}

function toRevoked<Item>(
  workers: readonly WorkerItems<Item>[],
  balanced: readonly WorkerItems<Item>[],
): ReadonlyMap<string, readonly Item[]> {
  return new Map(
    workers.map(({ memberId, items }, at) => {
      const { items: kept } = balanced[at]!
      if (kept.length === items.length) return [memberId, []]
      const remaining = new Set(kept)
      return [memberId, items.filter((item) => !remaining.has(item))]
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
