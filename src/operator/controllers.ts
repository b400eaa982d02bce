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
  readonly resyncPeriodMs?: number
  /** Whether changes in a runtime are told, so that passes need not look for them; absent: they are not. */
  readonly isObserved?: (runtime: 'worker' | 'registry', name: string) => boolean
  /** Whether the last look at a runtime showed no such thing; absent: nobody looks. */
  readonly isKnownAbsent?: (runtime: 'worker' | 'registry', name: string, thing: string) => boolean
}

/** What is told of can still be missed, such as the end of a version that is not the latest. */
const SEEN_RESYNC_MS = 600_000

export type Reconcilers = { readonly [K in ResourceKind]: Reconciler<K> }

export function createReconcilers(options: ReconcilerOptions): Reconcilers {
  const {
    instance = DEFAULT_INSTANCE,
    resyncPeriodMs,
    isObserved = () => false,
    isKnownAbsent = () => false,
    ...parts
  } = options
  const known = { ...parts, ...(resyncPeriodMs !== undefined && { observeIntervalMs: resyncPeriodMs }) }
  const healthyResyncMs = (runtime: 'worker' | 'registry') => (runtimeConfig: RuntimeConfig) =>
    resyncPeriodMs ?? (isObserved(runtime, runtimeConfig.name) ? SEEN_RESYNC_MS : runtimeConfig.observeIntervalMs)
  const lackedBy = (runtime: 'worker' | 'registry') => (runtimeConfig: RuntimeConfig, thing: string) =>
    isKnownAbsent(runtime, runtimeConfig.name, thing)
  return {
    RegistryMode: createRegistryModeReconciler(known),
    Subject: createSubjectReconciler({
      ...known,
      healthyResyncMs: healthyResyncMs('registry'),
      isKnownAbsent: lackedBy('registry'),
    }),
    Connector: createConnectorReconciler({
      ...known,
      instance,
      healthyResyncMs: healthyResyncMs('worker'),
      isKnownAbsent: lackedBy('worker'),
    }),
  }
}
