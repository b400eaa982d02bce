import type { TaskId } from '../../clients/worker.ts'
import type { Clock } from '../../config/clock.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ForwardableRequest, PeerClient, PeerResponse } from './peer-client.ts'
import type { WorkerGroup } from './worker-group.ts'

/** The worker that must handle a request: the leader, or the one that runs this connector or task. */
export type RequestTarget = 'leader' | { readonly owner: string | TaskId }

export type WorkerRequestHandlerOptions = {
  readonly group: () => WorkerGroup | undefined
  readonly peers: PeerClient
  readonly clock: Clock
  /** Whether the connector or task is configured. If not, this worker can answer the request with an error itself. */
  readonly exists: (owned: string | TaskId) => boolean
  /** Reads the config topic to its end, so that this worker sees the effects of a forwarded request. */
  readonly readConfigs: () => Promise<void>
}

/** How long a request waits for a responsible worker before it is rejected with status 409, in ms. */
const WAIT_MS_MAX = 10_000
const LOOK_MS = 50

/**
 * Forwards a request to the worker that must handle it. Resolves to undefined when that is this worker. Waits up to 10
 * s while the responsible worker is unknown or unreachable, because a rebalance is short; then throws a `WorkerError`
 * (`rebalancing`).
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
