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
export function applyWorkChange(held: ConnectorsAndTasks, { assigned, revoked }: WorkChange): ConnectorsAndTasks {
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
type Kind<Item> = { readonly of: (work: ConnectorsAndTasks) => readonly Item[]; readonly keyOf: (item: Item) => string }
const CONNECTORS: Kind<string> = { of: ({ connectors }) => connectors, keyOf: (name) => name }
const TASKS: Kind<TaskId> = { of: ({ tasks }) => tasks, keyOf: taskKey }

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
  const configuredKeys = new Set(configured.map(keyOf))
  const claims = new Map<string, number>()
  for (const key of workers.flatMap(({ items }) => items.map(keyOf))) claims.set(key, (claims.get(key) ?? 0) + 1)

  const assignedBefore = new Set(state ? kind.of(state.assigned).map(keyOf) : [])
  const unclaimed = configured.filter((item) => !claims.has(keyOf(item)))
  const delayed = mayDelay ? unclaimed.filter((item) => assignedBefore.has(keyOf(item))) : []
  const unassigned = mayDelay ? unclaimed.filter((item) => !assignedBefore.has(keyOf(item))) : unclaimed

  // An item that two workers claim is revoked from both; the next rebalance assigns it to one of them.
  const isKept = (item: Item) => configuredKeys.has(keyOf(item)) && claims.get(keyOf(item)) === 1
  const kept = workers.map(({ memberId, items }) => ({ memberId, items: items.filter(isKept) }))
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
      const remaining = new Set(balanced[at]?.items)
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
