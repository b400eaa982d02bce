import type { Groups } from './broker.ts'
import type { Home } from './home.ts'

export function createGroups(home: Home): Groups {
  return {
    list: () => home.listGroups(),
    describe: (groupId) => home.describeGroup({ groupId }),
    offsets: (groupId) => home.groupOffsets({ groupId }),
    setOffsets: (groupId, offsets) => home.commitOffsets({ groupId, offsets }),
    deleteOffsets: (groupId, partitions) => home.deleteGroupOffsets({ groupId, partitions }),
    delete: (groupId) => home.deleteGroup({ groupId }),
  }
}
