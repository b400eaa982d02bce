import type { BrokerBackend } from './backend.ts'
import type { GroupAdmin } from './broker.ts'

export function createGroupAdmin(home: BrokerBackend): GroupAdmin {
  return {
    list: () => home.listGroups(),
    describe: (groupId) => home.describeGroup({ groupId }),
    offsets: (groupId) => home.groupOffsets({ groupId }),
    setOffsets: (groupId, offsets) => home.commitOffsets({ groupId, offsets }),
    deleteOffsets: (groupId, partitions) => home.deleteGroupOffsets({ groupId, partitions }),
    delete: (groupId) => home.deleteGroup({ groupId }),
  }
}
