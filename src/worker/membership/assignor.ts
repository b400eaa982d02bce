import type { JoinedMember } from '../../broker/broker.ts'
import type { TaskId } from '../../clients/worker.ts'
import { taskKey } from '../model/task-key.ts'
import { type ConnectorsAndTasks, NO_WORK, parseWorkerMetadata, type WorkerMetadata } from './connect-protocol.ts'

/** A worker of the group, as its leader sees it. */
export type WorkerMember = { readonly memberId: string; readonly metadata: WorkerMetadata }

/** What changes for one worker. */
export type WorkChange = { readonly assigned: ConnectorsAndTasks; readonly revoked: ConnectorsAndTasks }

export type RebalanceInput = {
  readonly generation: number
  readonly configured: ConnectorsAndTasks
  readonly workers: readonly WorkerMember[]
  readonly nowMs: number
  /** How long work of workers that are gone may wait for them to come back. */
  readonly delayMsMax: number
}

/** What a leader keeps from one round to the next. It counts for the very next round only: others may have led since. */
export type AssignorState = {
  readonly generation: number
  /** Everything that somebody has, or that waits for whoever had it. */
  readonly assigned: ConnectorsAndTasks
  /** How many workers there were before some were lost. */
  readonly workerCount: number
  /** When work that waits is given to others. Undefined: none waits. */
  readonly reassignAtMs: number | undefined
}

export type RebalanceResult = {
  readonly changes: ReadonlyMap<string, WorkChange>
  /** Until the round that gives out what waits; 0: nothing waits. */
  readonly delayMs: number
  readonly state: AssignorState
}

export function toWorkerMembers(members: readonly JoinedMember[]): readonly WorkerMember[] {
  return members.map(({ memberId, metadata }) => ({ memberId, metadata: parseWorkerMetadata(metadata) }))
}

/**
 * Shares the configured work out, incrementally: everybody keeps what he has but for his surplus, and what nobody has goes
 * to whoever has least. What is taken from one is given to another only in the next round, when it has stopped. Work of
 * workers that are gone waits for them, and so does evening out, unless as many are back as there were.
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

/** Connectors and tasks are shared out alike, and each for itself. */
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

  // What two workers claim is taken from both; the round that follows gives it to one.
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

/** As many workers as the division leaves over may have one more than the others. */
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
