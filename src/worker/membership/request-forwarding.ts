import type { TaskId } from '../../clients/worker-client.ts'
import type { Clock } from '../../common/clock.ts'
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

/**
 * How long a request waits for a responsible worker before it is rejected with status 409, in ms. Half of the request
 * timeout of the operator, so that it receives the 409 and retries, instead of a timeout and an exponential backoff.
 */
const WAIT_MS_MAX = 5_000
const CHECK_MS = 50

/**
 * Forwards a request to the worker that must handle it. Resolves to undefined when that is this worker. Waits up to
 * 5 s while the responsible worker is unknown or unreachable, because a rebalance is short; then throws a `WorkerError`
 * (`rebalancing`).
 */
export async function forwardRequest(
  options: WorkerRequestHandlerOptions,
  target: RequestTarget,
  request: ForwardableRequest,
  hop: 'first' | 'second' | 'last',
): Promise<PeerResponse | undefined> {
  const { clock, peers } = options
  const deadlineMs = clock.monotonicMs() + WAIT_MS_MAX
  for (;;) {
    const worker = workerFor(target, options)
    if (worker === 'self') return undefined
    const response = worker && hop !== 'last' ? await peers.forward(worker, request, hop === 'second') : undefined
    if (response) {
      if (response.status < 300 && request.method !== 'GET') await options.readConfigs().catch(() => undefined)
      return response
    }
    if (clock.monotonicMs() > deadlineMs) throw rebalancingError(worker, hop)
    await clock.sleep(CHECK_MS)
  }
}

/** `self`, or the URL of the worker that handles or forwards the request; undefined while it is unknown. */
function workerFor(target: RequestTarget, { group, exists }: WorkerRequestHandlerOptions): 'self' | string | undefined {
  const current = group()
  if (!current) return undefined
  if (target === 'leader') return current.isLeader ? 'self' : current.leaderUrl
  if (current.has(target.owner) || !exists(target.owner)) return 'self'
  return current.isLeader ? current.urlOf(target.owner) : current.leaderUrl
}

function rebalancingError(workerUrl: string | undefined, hop: string): WorkerError {
  return new WorkerError(
    'rebalancing',
    workerUrl !== undefined && hop === 'last'
      ? 'Cannot complete request because of a conflicting operation (e.g. worker rebalance)'
      : 'Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway.',
  )
}
