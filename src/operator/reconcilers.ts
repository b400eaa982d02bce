import type { Clock } from '../config/clock.ts'
import type { ClusterView } from './cluster/cluster.ts'
import { createConnectorReconciler } from './connector/reconcile.ts'
import type { Reconciler } from './controller/reconciler.ts'
import type { Runtimes } from './estate.ts'
import { createRegistryModeReconciler } from './registry-mode/reconcile.ts'
import type { Kind } from './resources/resource.ts'
import { createSubjectReconciler } from './subject/reconcile.ts'

export const INSTANCE = 'weir'

export type ReconcilerOptions = {
  /** What they go by. */
  readonly cluster: ClusterView
  readonly runtimes: Runtimes
  readonly clock: Clock
  /** Part of the mark on connectors: tells installations apart that share a worker. */
  readonly instance?: string
  /** How often a resource that is fine is looked at again; absent: as the entry of its runtime says. */
  readonly resyncMs?: number
}

export type Reconcilers = { readonly [K in Kind]: Reconciler<K> }

export function createReconcilers(options: ReconcilerOptions): Reconcilers {
  const { instance = INSTANCE, resyncMs, ...parts } = options
  const known = { ...parts, ...(resyncMs !== undefined && { observeMs: resyncMs }) }
  return {
    RegistryMode: createRegistryModeReconciler(known),
    Subject: createSubjectReconciler(known),
    Connector: createConnectorReconciler({ ...known, instance }),
  }
}
