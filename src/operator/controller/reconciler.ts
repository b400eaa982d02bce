import type { ResourceEvent } from '../cluster/cluster.ts'
import type { ReadyCondition } from '../resources/condition.ts'
import type { Resource, ResourceKind, ResourceStatus } from '../resources/resource.ts'
import type { Requeue } from './controller.ts'

/** What one call of `reconcile` found and did. */
export type ReconcileResult<K extends ResourceKind> = {
  readonly readyCondition: ReadyCondition
  /** The status, without its generation and its conditions. */
  readonly statusFields: Omit<ResourceStatus[K], 'observedGeneration' | 'conditions'>
  readonly requeue: Requeue
  /** Data to write to a ConfigMap of the resource's namespace. It is written before the status that reports it. */
  readonly exportedConfigMap?: { readonly configMap: string; readonly data: Readonly<Record<string, string>> }
  /**
   * The state ends without an action, such as a rebalance: a resource that was Ready stays Ready for the grace period.
   */
  readonly isTransient?: boolean
  /** The status may stay unwritten for a moment, because another one is expected to follow at once. */
  readonly mayDeferStatus?: boolean
  /** Events to record, after the status is written. */
  readonly events?: readonly ResourceEvent[]
  /** The deletion is complete, or was abandoned. */
  readonly removeFinalizer?: true
}

/**
 * Reconciles the resources of one kind. Throws `TerminalError`, `DependencyNotReady` or the error of a client; any
 * other error is a bug.
 */
export interface Reconciler<K extends ResourceKind> {
  readonly kind: K
  readonly runtime: 'Worker' | 'Registry'
  /** Whether a deletion must wait until something outside the cluster is cleaned up. */
  needsFinalizer(resource: Resource<K>): boolean
  /** Whether something was ever written to the runtime for this resource, according to its status. */
  wasApplied(resource: Resource<K>): boolean
  reconcile(resource: Resource<K>): Promise<ReconcileResult<K>>
  /** How long a deletion waits for an unavailable runtime; undefined: until it succeeds. */
  deletionTimeoutMs(resource: Resource<K>): number | undefined
  /** How long a Ready resource stays Ready while its runtime fails. */
  readinessGracePeriodMs(resource: Resource<K>): number
  /** Runs the checks of `reconcile` without writing anything, and throws what would make it fail. Resolves with warnings. */
  dryRun(resource: Resource<K>): Promise<readonly string[]>
}
