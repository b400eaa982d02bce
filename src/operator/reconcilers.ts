import type { RegistryClient } from '../clients/registry.ts'
import type { WorkerClient } from '../clients/worker.ts'
import type { Clock } from '../config/clock.ts'
import type { ClusterView } from './cluster/cluster.ts'
import { createConnectorReconciler } from './connector/reconcile.ts'
import type { Reconciler } from './controller/reconciler.ts'
import { createRegistryModeReconciler } from './registry-mode/reconcile.ts'
import type { Kind } from './resources/resource.ts'
import { createSubjectReconciler } from './subject/reconcile.ts'

export const INSTANCE = 'weir'
const RESYNC_MS = 30_000

export type ReconcilerOptions = {
  /** What they go by. */
  readonly cluster: ClusterView
  readonly registry: RegistryClient
  readonly worker: WorkerClient
  readonly clock: Clock
  /** Part of the mark on connectors: tells installations apart that share a worker. */
  readonly instance?: string
  /** How often a resource that is fine is looked at again. */
  readonly resyncMs?: number
}

export type Reconcilers = { readonly [K in Kind]: Reconciler<K> }

export function createReconcilers(options: ReconcilerOptions): Reconcilers {
  const { instance = INSTANCE, resyncMs: observeMs = RESYNC_MS, ...known } = options
  return {
    RegistryMode: createRegistryModeReconciler({ ...known, observeMs }),
    Subject: createSubjectReconciler({ ...known, observeMs }),
    Connector: createConnectorReconciler({ ...known, instance, observeMs }),
  }
}
