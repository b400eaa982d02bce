import { type Cluster, WRITE_MS } from '../cluster/cluster.ts'
import { type Fence, writeFenced } from './leader-fence.ts'

/** The part of a cluster that the reconcile loop reads and writes. */
export type FencedCluster = Pick<
  Cluster,
  'get' | 'unreadable' | 'confirm' | 'writeStatus' | 'setFinalizer' | 'writeConfigMap'
>

/** Checks the fence before every write: a process that may have lost the lease writes nothing. */
export function fenceWrites(cluster: Cluster, fence: Fence): FencedCluster {
  return {
    get: (key) => cluster.get(key),
    unreadable: (key) => cluster.unreadable(key),
    confirm: (key) => cluster.confirm(key),
    writeStatus: (key, status, isForced) =>
      writeFenced(fence, WRITE_MS, () => cluster.writeStatus(key, status, isForced)),
    setFinalizer: (key, present) => writeFenced(fence, WRITE_MS, () => cluster.setFinalizer(key, present)),
    writeConfigMap: (namespace, name, data) =>
      writeFenced(fence, WRITE_MS, () => cluster.writeConfigMap(namespace, name, data)),
  }
}
