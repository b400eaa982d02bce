import { RequestError } from '../../clients/http-client.ts'
import { messageOf } from '../../common/errors.ts'
import type { ResourceEvent } from '../cluster/cluster.ts'
import { type AnnotationName, annotationOf } from '../resources/annotations.ts'
import type { Resource, ResourceKind, ResourceStatus } from '../resources/resource.ts'
import { causeOf, TerminalError } from './reconcile-error.ts'
import type { ReconcileResult, Reconciler } from './reconciler.ts'

/**
 * Reasons that revoke the access to a runtime: the operator's configuration takes precedence over the deletion policy.
 */
const REVOKED: ReadonlySet<string> = new Set(['UnknownCluster', 'NotAllowed'])
const FORCE_DELETE: AnnotationName = 'weir.dev/force-delete'

/**
 * Gives up a deletion that failed with `error`: removes the finalizer and leaves the external object in place.
 * Undefined where the deletion must be retried. A deletion is given up when access to the runtime was revoked, when the
 * annotation `weir.dev/force-delete` is set, or when the runtime has been unavailable for longer than the deletion
 * timeout.
 */
export function abandonDeletion<K extends ResourceKind>(
  resource: Resource<K>,
  error: unknown,
  reconciler: Reconciler<K>,
  nowMs: number,
): ReconcileResult<K> | undefined {
  const { deletionTimestamp } = resource.metadata
  if (deletionTimestamp === undefined) return undefined
  const isRevoked =
    error instanceof TerminalError &&
    (REVOKED.has(error.reason) || (error.reason === 'ClusterConfigInvalid' && !reconciler.wasApplied(resource)))
  const isForced = isDeletionForced(resource)
  if (!isRevoked && !isForced && !hasTimedOut(resource, error, reconciler, nowMs)) return undefined
  const { observedGeneration: _, conditions: __, ...statusFields } = resource.status as ResourceStatus[K]
  const message = `the deletion was abandoned, and the external object is left in place: ${messageOf(error)}`
  return {
    readyCondition: { status: 'False', reason: 'Deleting', message },
    statusFields,
    requeue: 'none',
    removeFinalizer: true,
    events: [abandonedEvent(message)],
  }
}

/** Set also to delete an object that cannot be read. */
export function isDeletionForced(resource: { readonly metadata: Resource['metadata'] }): boolean {
  return annotationOf(resource, FORCE_DELETE) === 'true'
}

function hasTimedOut<K extends ResourceKind>(
  resource: Resource<K>,
  error: unknown,
  reconciler: Reconciler<K>,
  nowMs: number,
): boolean {
  const cause = causeOf(error)
  if (!(cause instanceof RequestError && cause.retriable)) return false
  return deletionTimeLeftMs(resource, reconciler, nowMs) < 1
}

/** How long the deletion of this resource still waits for its runtime; infinite where it waits until it succeeds. */
export function deletionTimeLeftMs<K extends ResourceKind>(
  resource: Resource<K>,
  reconciler: Reconciler<K>,
  nowMs: number,
): number {
  const { deletionTimestamp } = resource.metadata
  const timeoutMs = deletionTimestamp === undefined ? undefined : reconciler.deletionTimeoutMs(resource)
  if (deletionTimestamp === undefined || timeoutMs === undefined) return Number.POSITIVE_INFINITY
  return Date.parse(deletionTimestamp) + timeoutMs - nowMs + 1
}

/** The Event of an abandoned deletion; the note names what was left in place and why. */
export function abandonedEvent(note: string): ResourceEvent {
  return { type: 'Warning', reason: 'Abandoned', note }
}
