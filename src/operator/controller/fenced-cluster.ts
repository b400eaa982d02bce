import { type Cluster, WRITE_MS } from '../cluster/cluster.ts'
import type { Fence } from './leader-fence.ts'

/** The part of a cluster that the reconcile loop reads and writes. */
export type FencedCluster = Pick<Cluster, 'get' | 'writeStatus' | 'setFinalizer' | 'writeConfigMap'>

/** Checks the fence before every write: a process that may have lost the lease writes nothing. */
export function fenceWrites(cluster: Cluster, fence: Fence): FencedCluster {
  return {
    get: (key) => cluster.get(key),
    async writeStatus(key, status) {
      fence.assertFor(WRITE_MS)
      await cluster.writeStatus(key, status)
    },
    async setFinalizer(key, present) {
      fence.assertFor(WRITE_MS)
      await cluster.setFinalizer(key, present)
    },
    async writeConfigMap(namespace, name, data) {
      fence.assertFor(WRITE_MS)
      return cluster.writeConfigMap(namespace, name, data)
    },
  }
}
