import { silentLogger } from '../../src/common/logging/logger.ts'
import type { Requeue } from '../../src/operator/controller/controller.ts'
import { type Fence, UNFENCED } from '../../src/operator/controller/leader-fence.ts'
import { ReconcileLoop } from '../../src/operator/controller/reconcile-loop.ts'
import type { Reconciler } from '../../src/operator/controller/reconciler.ts'
import type { Condition } from '../../src/operator/resources/common-status.ts'
import { findCondition } from '../../src/operator/resources/condition.ts'
import type { ResourceKey, ResourceKind } from '../../src/operator/resources/resource.ts'
import type { FakeClock } from './fake-clock.ts'
import type { FakeCluster } from './fake-cluster.ts'

/** Runs a reconciler step by step, as a test requires. */
export function reconcileLoopIn<K extends ResourceKind>(
  cluster: FakeCluster,
  clock: FakeClock,
  reconciler: Reconciler<K>,
  fence: Fence = UNFENCED,
) {
  const loop = new ReconcileLoop(reconciler, { cluster, clock, logger: silentLogger(), fence })
  const reconcile = (key: ResourceKey<K>) => loop.reconcile(key)
  const condition = (key: ResourceKey<K>, type: string): Condition | undefined =>
    findCondition(cluster.get(key)?.status.conditions ?? [], type)
  return {
    reconcile,
    condition,
    /** `Ready`, `Reconciling` or `Stalled` and the reason. */
    readiness(key: ResourceKey<K>): string {
      const ready = condition(key, 'Ready')
      const progress = condition(key, 'Stalled') ?? condition(key, 'Reconciling')
      return `${progress?.type ?? `Ready=${ready?.status}`}/${ready?.reason}`
    },
    /** Reconciles until the requested requeue is more than 1 s away, waiting for each requested delay in between. */
    async settle(key: ResourceKey<K>, reconcilesMax = 20): Promise<Requeue> {
      for (let count = 0; count < reconcilesMax; count++) {
        const requeue = await reconcile(key)
        if (typeof requeue === 'string' || requeue.afterMs > 1_000) return requeue
        await clock.advance(requeue.afterMs)
      }
      throw new Error(`${key} did not settle in ${reconcilesMax} passes`)
    },
  }
}
