import type { JoinedMember } from '../broker/broker.ts'
import type { TaskId } from '../clients/worker.ts'
import { NO_WORK, parseMetadata, type Work, type WorkerMetadata } from './assignment-codec.ts'
import { taskKey } from './plan.ts'

/** A worker of the group, as its leader sees it. */
export type GroupWorker = { readonly memberId: string; readonly metadata: WorkerMetadata }
/** What changes for one worker. */
export type Share = { readonly assigned: Work; readonly revoked: Work }

export function toGroupWorkers(members: readonly JoinedMember[]): readonly GroupWorker[] {
  return members.map(({ memberId, metadata }) => ({ memberId, metadata: parseMetadata(metadata) }))
}

/**
 * Shares the configured work out: everybody keeps what he has, what nobody has goes to whoever has least. What two
 * workers claim is taken from both; the round that follows gives it to one.
 */
export function shareWork(configured: Work, workers: readonly GroupWorker[]): ReadonlyMap<string, Share> {
  const connectors = share(
    configured.connectors,
    (name) => name,
    held(workers, (work) => work.connectors),
  )
  const tasks = share(
    configured.tasks,
    taskKey,
    held(workers, (work) => work.tasks),
  )
  return new Map(
    workers.map(({ memberId }) => [
      memberId,
      {
        assigned: { connectors: connectors.assigned.get(memberId) ?? [], tasks: tasks.assigned.get(memberId) ?? [] },
        revoked: { connectors: connectors.revoked.get(memberId) ?? [], tasks: tasks.revoked.get(memberId) ?? [] },
      },
    ]),
  )
}

type Held<Item> = readonly { readonly memberId: string; readonly items: readonly Item[] }[]

function held<Item extends string | TaskId>(
  workers: readonly GroupWorker[],
  pick: (work: Work) => readonly Item[],
): Held<Item> {
  return workers.map(({ memberId, metadata }) => ({ memberId, items: pick(metadata.holds?.assigned ?? NO_WORK) }))
}

function share<Item>(
  configured: readonly Item[],
  keyOf: (item: Item) => string,
  holders: Held<Item>,
): { assigned: ReadonlyMap<string, readonly Item[]>; revoked: ReadonlyMap<string, readonly Item[]> } {
  const wanted = new Set(configured.map(keyOf))
  const holdings = new Map<string, number>()
  for (const key of holders.flatMap(({ items }) => items.map(keyOf))) holdings.set(key, (holdings.get(key) ?? 0) + 1)
  const isKept = (item: Item) => wanted.has(keyOf(item)) && holdings.get(keyOf(item)) === 1
  const loads = holders
    .map(({ memberId, items }) => ({ memberId, load: items.filter(isKept).length, assigned: [] as Item[] }))
    .sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  for (const item of configured.filter((one) => !holdings.has(keyOf(one)))) {
    const least = loads.reduce((best, next) => (next.load < best.load ? next : best))
    least.load += 1
    least.assigned.push(item)
  }
  return {
    assigned: new Map(loads.map(({ memberId, assigned }) => [memberId, assigned])),
    revoked: new Map(holders.map(({ memberId, items }) => [memberId, items.filter((item) => !isKept(item))])),
  }
}
