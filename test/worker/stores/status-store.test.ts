import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { StatusStore } from '../../../src/worker/stores/status-store.ts'
import { openTestBroker } from '../../support/topic.ts'

it('notifies of status records of a connector and its tasks, but not of topic records', async () => {
  const notified: string[] = []
  const store = await StatusStore.open({
    ...{ broker: await openTestBroker(), logger: silentLogger(), topic: { name: 'statuses', partitions: 1 } },
    onStatus: ({ connector }) => notified.push(connector),
  })
  onTestFinished(() => store.close())
  const status = { state: 'RUNNING', trace: null, worker_id: 'w:8083', generation: 1 } as const
  await store.putTopic({ connector: 'quiet', name: 'lines', task: 0, discoverTimestamp: 1 })
  await store.put({ kind: 'connector', connector: 'a' }, status)
  await store.put({ kind: 'task', connector: 'b', task: 0 }, status)
  await store.delete({ kind: 'connector', connector: 'a' })
  expect(notified).toEqual(['a', 'b', 'a'])
})
