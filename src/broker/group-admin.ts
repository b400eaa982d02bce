import type { GroupAdmin } from './broker.ts'
import type { BrokerBackend } from './broker-backend.ts'

export function createGroupAdmin(backend: BrokerBackend): GroupAdmin {
  return {
    list: () => backend.listGroups(),
    describe: (groupId) => backend.describeGroup({ groupId }),
    offsets: (groupId) => backend.groupOffsets({ groupId }),
    setOffsets: (groupId, offsets) => backend.commitOffsets({ groupId, offsets }),
    deleteOffsets: (groupId, partitions) => backend.deleteGroupOffsets({ groupId, partitions }),
    delete: (groupId) => backend.deleteGroup({ groupId }),
  }
}
