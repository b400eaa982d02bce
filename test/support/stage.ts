import { createConnectorReconciler } from '../../src/operator/connector/reconcile.ts'
import { createRegistryModeReconciler } from '../../src/operator/registry-mode/reconcile.ts'
import { createSubjectReconciler } from '../../src/operator/subject/reconcile.ts'
import { FakeClock } from './fake-clock.ts'
import { FakeRegistry } from './fake-registry.ts'
import { FakeWorker } from './fake-worker.ts'
import { MemoryCluster } from './memory-cluster.ts'
import { passesIn } from './passes.ts'

/** A cluster and both runtimes in memory, and operators of one kind on them: each call is a start, with nothing known. */
export function createStage(kept: { readonly worker?: FakeWorker } = {}) {
  const { worker = new FakeWorker() } = kept
  const [clock, cluster, registry] = [new FakeClock(), new MemoryCluster(), new FakeRegistry()]
  const known = { cluster, clock, worker, registry, instance: 'test', random: () => 0.5, observeMs: 30_000 }
  return {
    clock,
    cluster,
    worker,
    registry,
    connectors: () => passesIn(cluster, clock, createConnectorReconciler(known)),
    subjects: () => passesIn(cluster, clock, createSubjectReconciler(known)),
    modes: () => passesIn(cluster, clock, createRegistryModeReconciler(known)),
  }
}
