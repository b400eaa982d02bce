import { createConnectorReconciler } from '../../src/operator/connector/connector-reconciler.ts'
import { createRegistryModeReconciler } from '../../src/operator/registry-mode/registry-mode-reconciler.ts'
import {
  type RegistryRuntimeConfig,
  RUNTIME_DEFAULTS,
  type Runtimes,
  type WorkerRuntimeConfig,
} from '../../src/operator/runtimes.ts'
import { createSubjectReconciler } from '../../src/operator/subject/subject-reconciler.ts'
import { FakeClock } from './fake-clock.ts'
import { FakeRegistry } from './fake-registry.ts'
import { FakeWorker } from './fake-worker.ts'
import { MemoryCluster } from './memory-cluster.ts'
import { reconcileLoopIn } from './reconcile-loop.ts'

/** Wraps an object so that calls fail once the simulated process has died. */
export type Mortal = <T extends object>(thing: T) => T
const same: Mortal = (thing) => thing

/** An in-memory cluster with both runtimes. Each call of `operators` starts reconcilers without cached state. */
export function createStage(kept: { readonly worker?: FakeWorker } = {}) {
  const { worker = new FakeWorker() } = kept
  const [clock, cluster, registry] = [new FakeClock(), new MemoryCluster(), new FakeRegistry()]
  const runtimeConfig = { ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: 'http://127.0.0.1:1' } }
  const place: { worker: WorkerRuntimeConfig; registry: RegistryRuntimeConfig } = {
    worker: runtimeConfig,
    registry: runtimeConfig,
  }
  const runtimes: Runtimes = {
    worker: () => ({ client: worker, runtimeConfig: place.worker }),
    registry: () => ({ client: registry, runtimeConfig: place.registry }),
  }
  const known = { cluster, clock, runtimes, instance: 'test', random: () => 0.5, observeIntervalMs: 30_000 }
  /** `isBlind`: the lists of all objects of a runtime appear empty. */
  const operators = ({ mortal = same, isBlind }: { readonly mortal?: Mortal; readonly isBlind?: boolean } = {}) => {
    const own = {
      ...known,
      ...(isBlind && { isKnownAbsent: () => true }),
      cluster: mortal(cluster),
      runtimes: {
        worker: (resource) => {
          const { client, runtimeConfig } = runtimes.worker(resource)
          return { client: mortal(client), runtimeConfig }
        },
        registry: (resource) => {
          const { client, runtimeConfig } = runtimes.registry(resource)
          return { client: mortal(client), runtimeConfig }
        },
      } satisfies Runtimes,
    }
    return {
      Connector: reconcileLoopIn(own.cluster, clock, createConnectorReconciler(own)),
      Subject: reconcileLoopIn(own.cluster, clock, createSubjectReconciler(own)),
      RegistryMode: reconcileLoopIn(own.cluster, clock, createRegistryModeReconciler(own)),
    }
  }
  return {
    clock,
    cluster,
    worker,
    registry,
    runtimes,
    /** The runtime configurations, which a test may change. */
    place,
    /** Starts the reconcilers of all three kinds in a simulated process. */
    operators,
    connectors: () => operators().Connector,
    subjects: () => operators().Subject,
    modes: () => operators().RegistryMode,
  }
}
