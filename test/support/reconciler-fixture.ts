import { CompatibilityWorker } from '../../src/compatibility-worker/compatibility-worker.ts'
import { ConnectorReconciler } from '../../src/operator/connector/connector-reconciler.ts'
import { RegistryModeReconciler } from '../../src/operator/registry-mode/registry-mode-reconciler.ts'
import {
  type RegistryRuntimeConfig,
  RUNTIME_DEFAULTS,
  type Runtimes,
  type WorkerRuntimeConfig,
} from '../../src/operator/runtimes.ts'
import { SubjectReconciler } from '../../src/operator/subject/subject-reconciler.ts'
import { FakeClock } from './fake-clock.ts'
import { FakeCluster } from './fake-cluster.ts'
import { FakeRegistry } from './fake-registry.ts'
import { FakeWorker } from './fake-worker.ts'
import { reconcileLoopIn } from './reconcile-loop.ts'

/** Wraps an object so that calls fail once the simulated process has died. */
export type FaultInjector = <T extends object>(target: T) => T
const withoutFaults: FaultInjector = (target) => target

/** An in-memory cluster with both runtimes. Each call of `startReconcilers` starts reconcilers without cached state. */
export function createReconcilerFixture(
  existing: { readonly worker?: FakeWorker; readonly compatibilityWorker?: CompatibilityWorker } = {},
) {
  const { worker = new FakeWorker(), compatibilityWorker = new CompatibilityWorker() } = existing
  const [clock, cluster, registry] = [new FakeClock(), new FakeCluster(), new FakeRegistry()]
  const runtimeConfig = { ...RUNTIME_DEFAULTS, name: 'default', endpoint: { url: 'http://127.0.0.1:1' } }
  const runtimeConfigs: { worker: WorkerRuntimeConfig; registry: RegistryRuntimeConfig } = {
    worker: runtimeConfig,
    registry: runtimeConfig,
  }
  const runtimes: Runtimes = {
    worker: () => ({ client: worker, runtimeConfig: runtimeConfigs.worker }),
    registry: () => ({ client: registry, runtimeConfig: runtimeConfigs.registry }),
  }
  const shared = {
    cluster,
    clock,
    runtimes,
    compatibilityWorker,
    instance: 'test',
    random: () => 0.5,
    observeIntervalMs: 30_000,
  }
  /** `listsAreEmpty`: lists of all objects of a runtime appear empty. */
  const startReconcilers = ({
    injectFaults = withoutFaults,
    listsAreEmpty,
  }: {
    readonly injectFaults?: FaultInjector
    readonly listsAreEmpty?: boolean
  } = {}) => {
    const own = {
      ...shared,
      ...(listsAreEmpty && { isKnownAbsent: () => true }),
      cluster: injectFaults(cluster),
      runtimes: {
        worker: (resource) => {
          const { client, runtimeConfig } = runtimes.worker(resource)
          return { client: injectFaults(client), runtimeConfig }
        },
        registry: (resource) => {
          const { client, runtimeConfig } = runtimes.registry(resource)
          return { client: injectFaults(client), runtimeConfig }
        },
      } satisfies Runtimes,
    }
    return {
      Connector: reconcileLoopIn(own.cluster, clock, new ConnectorReconciler(own)),
      Subject: reconcileLoopIn(own.cluster, clock, new SubjectReconciler(own)),
      RegistryMode: reconcileLoopIn(own.cluster, clock, new RegistryModeReconciler(own)),
    }
  }
  return {
    clock,
    cluster,
    worker,
    registry,
    runtimes,
    compatibilityWorker,
    /** The runtime configurations, which a test may change. */
    runtimeConfigs,
    /** Starts the reconcilers of all three kinds in a simulated process. */
    startReconcilers,
    connectors: () => startReconcilers().Connector,
    subjects: () => startReconcilers().Subject,
    modes: () => startReconcilers().RegistryMode,
  }
}
