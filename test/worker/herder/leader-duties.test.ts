import { describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { LeaderDuties } from '../../../src/worker/herder/leader-duties.ts'
import type { ConfigRecord } from '../../../src/worker/stores/config-codec.ts'
import { ConfigState } from '../../../src/worker/stores/config-state.ts'
import type { ConfigStore } from '../../../src/worker/stores/config-store.ts'
import { StatusState } from '../../../src/worker/stores/status-state.ts'
import type { StatusStore } from '../../../src/worker/stores/status-store.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { addConnector } from '../../support/work-runner.ts'

const HOUR_MS = 3_600_000

it('cleanUp fences the tasks of a deleted connector before it deletes the record of how many there were', async () => {
  const { leader, configs, fenced, written, onFenced } = createLeader()
  addConnector(configs, 3)
  await leader.fenceZombieSourceTasks('c')
  configs.apply({ kind: 'connector', connector: 'c', config: null })
  onFenced(() => expect(configs.fencedTasks('c')).toBe(3))
  await leader.cleanUp()
  expect(fenced).toEqual(['workers-c-0', 'workers-c-1', 'workers-c-2'])
  expect(written).toContainEqual({ kind: 'fencing', connector: 'c', tasks: null })
  await leader.cleanUp()
  expect(fenced).toHaveLength(3)
})

describe('fenceZombieSourceTasks', () => {
  it('fences the tasks of the previous set, once for concurrent requests', async () => {
    const { leader, configs, fenced, written } = createLeader()
    addConnector(configs, 2)
    await leader.fenceZombieSourceTasks('c')
    expect([fenced, written]).toEqual([[], [{ kind: 'fencing', connector: 'c', tasks: 2 }]])
    addConnector(configs, 3)
    await Promise.all([
      leader.fenceZombieSourceTasks('c'),
      leader.fenceZombieSourceTasks('c'),
      leader.fenceZombieSourceTasks('c'),
    ])
    expect(fenced).toEqual(['workers-c-0', 'workers-c-1'])
    await leader.fenceZombieSourceTasks('c')
    expect(written).toHaveLength(2)
  })

  it('fences nothing when there was and is one task, which fences its predecessor itself', async () => {
    const { leader, configs, fenced } = createLeader()
    for (let round = 0; round < 2; round++) {
      addConnector(configs, 1)
      await leader.fenceZombieSourceTasks('c')
    }
    expect(fenced).toEqual([])
  })

  it('fences all tasks of a stopped connector, so that its offsets can be changed', async () => {
    const { leader, configs, fenced } = createLeader()
    addConnector(configs, 2)
    await leader.fenceZombieSourceTasks('c')
    configs.apply({ kind: 'commit', connector: 'c', tasks: 0 })
    await leader.fenceZombieSourceTasks('c')
    expect(fenced).toEqual(['workers-c-0', 'workers-c-1'])
  })

  it('fails when another set of tasks was committed meanwhile', async () => {
    const { leader, configs, onFenced } = createLeader()
    addConnector(configs, 2)
    await leader.fenceZombieSourceTasks('c')
    addConnector(configs, 2)
    onFenced(() => addConnector(configs, 4))
    await expect(leader.fenceZombieSourceTasks('c')).rejects.toMatchObject({ code: 'rebalancing' })
  })

  it('fences again for tasks that were committed while a shared fencing was being stored', async () => {
    const { leader, configs, fenced, onWritten } = createLeader()
    addConnector(configs, 3)
    await leader.fenceZombieSourceTasks('c')
    addConnector(configs, 3)
    const stored = Promise.withResolvers<void>()
    const isWriting = new Promise<void>((resolve) => {
      onWritten(() => {
        resolve()
        return stored.promise
      })
    })
    const first = leader.fenceZombieSourceTasks('c')
    await isWriting
    addConnector(configs, 1)
    const second = leader.fenceZombieSourceTasks('c')
    stored.resolve()
    await Promise.all([first, second])
    expect(fenced).toEqual([0, 1, 2, 0, 1, 2].map((task) => `workers-c-${task}`))
    expect(configs.connector('c')).toMatchObject({ fencedTasks: 1, pendingFencing: false })
  })

  it('is rejected on a follower and for an unknown connector', async () => {
    const { leader, follow } = createLeader()
    await expect(leader.fenceZombieSourceTasks('c')).rejects.toMatchObject({ code: 'connector_not_found' })
    follow()
    await expect(leader.fenceZombieSourceTasks('c')).rejects.toMatchObject({ code: 'rebalancing' })
    await expect(leader.putTasks('c', [])).rejects.toMatchObject({ code: 'rebalancing' })
  })
})

it('putTasks stores no tasks for a stopped connector', async () => {
  const { leader, configs } = createLeader()
  addConnector(configs, 0)
  configs.apply({ kind: 'target', connector: 'c', target: 'STOPPED' })
  await expect(leader.putTasks('c', [{}])).rejects.toMatchObject({ code: 'invalid_request' })
})

it('the leader creates a session key, and replaces it after inter.worker.key.ttl.ms', async () => {
  const { leader, written, clock } = createLeader()
  await leader.cleanUp()
  await leader.cleanUp()
  expect(written).toHaveLength(1)
  const ending = new AbortController()
  const keeping = leader.runSessionKeyRotation(ending.signal)
  await clock.advance(HOUR_MS + 20_000)
  expect(written).toHaveLength(2)
  ending.abort()
  await keeping
})

function createLeader() {
  const configs = new ConfigState()
  const written: ConfigRecord[] = []
  const fenced: string[] = []
  const clock = new FakeClock()
  const write = async (records: readonly ConfigRecord[]) => {
    written.push(...records)
    for (const record of records) configs.apply(record)
    await afterWrite()
  }
  let isLeader = true
  let afterWrite: () => Promise<void> | void = () => {}
  let afterFencing = () => {}
  const leader = new LeaderDuties({
    broker: {
      producer: async ({ transactionalId }: { transactionalId: string }) => {
        fenced.push(transactionalId)
        return { close: async () => afterFencing() }
      },
    } as unknown as Broker,
    groupId: 'workers',
    logger: silentLogger(),
    clock,
    configs: {
      state: configs,
      readToEnd: async () => undefined,
      write,
      deleteRemainingRecords: (connector: string) =>
        write([
          { kind: 'commit', connector, tasks: null },
          { kind: 'fencing', connector, tasks: null },
        ]),
    } as unknown as ConfigStore,
    statuses: { state: new StatusState() } as unknown as StatusStore,
    isLeader: () => isLeader,
    isSource: () => true,
    sessionKey: { ttlMs: HOUR_MS, algorithm: 'HmacSHA256', bytes: 32 },
  })
  return {
    ...{ leader, configs, written, fenced, clock },
    follow: () => {
      isLeader = false
    },
    onFenced: (then: () => void) => {
      afterFencing = then
    },
    onWritten: (then: () => Promise<void> | void) => {
      afterWrite = then
    },
  }
}
