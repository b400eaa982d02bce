import type { Clock } from '../config/clock.ts'
import type { SecretMasker } from '../config/secret-masker.ts'
import type { ClusterReader } from './cluster/cluster.ts'
import { createConnectorReconciler } from './connector/connector-reconciler.ts'
import type { Reconciler } from './controller/reconciler.ts'
import { createRegistryModeReconciler } from './registry-mode/registry-mode-reconciler.ts'
import type { ResourceKind } from './resources/resource.ts'
import type { RuntimeConfig, Runtimes } from './runtimes.ts'
import { createSubjectReconciler } from './subject/subject-reconciler.ts'

export const DEFAULT_INSTANCE = 'weir'

export type ReconcilerOptions = {
  /** What they go by. */
  readonly cluster: ClusterReader
  readonly runtimes: Runtimes
  readonly clock: Clock
  /** Part of the mark on connectors: tells installations apart that share a worker. */
  readonly instance?: string
  /** Values that the log masks: those of each Connector are added. */
  readonly secrets?: SecretMasker
  /** How often a resource that is fine is looked at again; absent: as the entry of its runtime says. */
  readonly resyncMs?: number
  /** Whether changes in a runtime are told, so that passes need not look for them; absent: they are not. */
  readonly isSeen?: (runtime: 'worker' | 'registry', name: string) => boolean
  /** Whether the last look at a runtime showed no such thing; absent: nobody looks. */
  readonly lacks?: (runtime: 'worker' | 'registry', name: string, thing: string) => boolean
}

/** What is told of can still be missed, such as the end of a version that is not the latest. */
const SEEN_RESYNC_MS = 600_000

export type Reconcilers = { readonly [K in ResourceKind]: Reconciler<K> }

export function createReconcilers(options: ReconcilerOptions): Reconcilers {
  const { instance = DEFAULT_INSTANCE, resyncMs, isSeen = () => false, lacks = () => false, ...parts } = options
  const known = { ...parts, ...(resyncMs !== undefined && { observeMs: resyncMs }) }
  const restMs = (runtime: 'worker' | 'registry') => (entry: RuntimeConfig) =>
    resyncMs ?? (isSeen(runtime, entry.name) ? SEEN_RESYNC_MS : entry.observeMs)
  const lackedBy = (runtime: 'worker' | 'registry') => (entry: RuntimeConfig, thing: string) =>
    lacks(runtime, entry.name, thing)
  return {
    RegistryMode: createRegistryModeReconciler(known),
    Subject: createSubjectReconciler({ ...known, restMs: restMs('registry'), lacks: lackedBy('registry') }),
    Connector: createConnectorReconciler({ ...known, instance, restMs: restMs('worker'), lacks: lackedBy('worker') }),
  }
}
