import type { TaskId } from '../../clients/worker.ts'
import type { Clock } from '../../config/clock.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ForwardableRequest, PeerClient, PeerResponse } from './peer-client.ts'
import type { WorkerGroup } from './worker-group.ts'

/** Who has to answer a request: the leader, or whoever has this connector or task. */
export type RequestTarget = 'leader' | { readonly owner: string | TaskId }

export type WorkerRequestHandlerOptions = {
  readonly group: () => WorkerGroup | undefined
  readonly peers: PeerClient
  readonly clock: Clock
  /** Whether it is configured at all: else this worker can answer, that it is not. */
  readonly exists: (owned: string | TaskId) => boolean
  /** This worker's view of the configurations, brought to where the answering worker's is. */
  readonly readConfigs: () => Promise<void>
}

/** How long a request waits for the group to know who answers it, before it is refused with a 409. */
const WAIT_MS_MAX = 10_000
const LOOK_MS = 50

/**
 * Has a request answered by whom it concerns. Undefined: by this worker. While the group does not know, or nobody listens
 * where it thinks, it waits a little: a rebalance is short.
 */
export async function forwardRequest(
  parts: WorkerRequestHandlerOptions,
  who: RequestTarget,
  request: ForwardableRequest,
  hop: 'first' | 'second' | 'last',
): Promise<PeerResponse | undefined> {
  const { clock, peers } = parts
  const untilMs = clock.monotonicMs() + WAIT_MS_MAX
  for (;;) {
    const place = placeOf(parts, who)
    if (place === 'here') return undefined
    const answer = place && hop !== 'last' ? await peers.forward(place, request, hop === 'second') : undefined
    if (answer) {
      if (answer.status < 300 && request.method !== 'GET') await parts.readConfigs().catch(() => undefined)
      return answer
    }
    if (clock.monotonicMs() > untilMs) throw refusal(place, hop)
    await clock.sleep(LOOK_MS)
  }
}

function placeOf({ group, exists }: WorkerRequestHandlerOptions, who: RequestTarget): 'here' | string | undefined {
  const place = group()
  if (!place) return undefined
  if (who === 'leader') return place.isLeader ? 'here' : place.leaderUrl
  if (place.has(who.owner) || !exists(who.owner)) return 'here'
  return place.isLeader ? place.urlOf(who.owner) : place.leaderUrl
}

function refusal(place: string | undefined, hop: string): WorkerError {
  return new WorkerError(
    'rebalancing',
    place !== undefined && hop === 'last'
      ? 'Cannot complete request because of a conflicting operation (e.g. worker rebalance)'
      : 'Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.',
  )
}
