import { describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { LeaderDuties } from '../../../src/worker/herder/leader-duties.ts'
import type { ConfigRecord } from '../../../src/worker/stores/config-codec.ts'
import { ConfigState } from '../../../src/worker/stores/config-state.ts'
import type { ConfigStore } from '../../../src/worker/stores/config-store.ts'
import { ConnectorChanges } from '../../../src/worker/stores/connector-changes.ts'
import { type StatusKey, toStatusKey } from '../../../src/worker/stores/status-codec.ts'
import { StatusState } from '../../../src/worker/stores/status-state.ts'
import type { StatusChange, StatusStore } from '../../../src/worker/stores/status-store.ts'
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
    const { leader, configs, fenced, fencedAs, written } = createLeader()
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
    expect(fencedAs).toEqual([['admin', configs.connector('c')?.config]])
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

it('cleanUp keeps the records of a connector that is created again while its tasks are fenced', async () => {
  const { leader, configs, written, fenced, onFenced } = createLeader()
  addConnector(configs, 2)
  await leader.fenceZombieSourceTasks('c')
  configs.apply({ kind: 'connector', connector: 'c', config: null })
  onFenced(() => addConnector(configs, 1))
  written.length = 0
  await leader.cleanUp()
  expect(fenced).toEqual(['workers-c-0', 'workers-c-1'])
  expect(written.filter((record) => record.kind !== 'session')).toEqual([])
  expect(configs.connector('c')?.tasks).toHaveLength(1)
})

it('putTasks stores no tasks for a connector that is being stopped', async () => {
  const { leader, configs, changes, write } = createLeader()
  addConnector(configs, 1)
  const between = Promise.withResolvers<void>()
  // As `Herder.setTarget` stops it.
  const stopping = changes.inTurn('c', async () => {
    await write([{ kind: 'commit', connector: 'c', tasks: 0 }])
    await between.promise
    await write([{ kind: 'target', connector: 'c', target: 'STOPPED' }])
  })
  const generated = leader.putTasks('c', [{}])
  between.resolve()
  await stopping
  await expect(generated).rejects.toMatchObject({ code: 'invalid_request' })
  expect(configs.connector('c')).toMatchObject({ target: 'STOPPED', tasks: [] })
})

describe('a status that is read', () => {
  const RUNNING = { state: 'UNASSIGNED', trace: null, worker_id: 'w2:1', generation: 3, version: null } as const

  it('is deleted by the leader if its task, or its connector, does not exist any more', async () => {
    const { leader, configs, readStatus, deleted } = createLeader()
    addConnector(configs, 1)
    for (const task of [0, 1]) readStatus({ kind: 'task', connector: 'c', task, status: RUNNING })
    readStatus({ kind: 'connector', connector: 'c', status: RUNNING })
    await expect.poll(deleted).toEqual(['status-task-c-1'])
    configs.apply({ kind: 'connector', connector: 'c', config: null })
    readStatus({ kind: 'task', connector: 'c', task: 0, status: RUNNING })
    await expect.poll(deleted).toEqual(['status-task-c-1', 'status-task-c-0', 'status-connector-c'])
    await leader.cleanUp()
    expect(deleted()).toHaveLength(3)
  })

  it('is deleted when the topic accepts it, unless its task exists again', async () => {
    const { configs, readStatus, deleted, clock, rejectDeletions } = createLeader()
    addConnector(configs, 0)
    rejectDeletions(true)
    for (const task of [0, 1]) readStatus({ kind: 'task', connector: 'c', task, status: RUNNING })
    await clock.advance(10_000)
    addConnector(configs, 1)
    rejectDeletions(false)
    await clock.advance(20_000)
    expect(deleted()).toEqual(['status-task-c-1'])
  })

  it('is not deleted by a follower', async () => {
    const { configs, readStatus, deleted, clock, follow } = createLeader()
    addConnector(configs, 0)
    follow()
    readStatus({ kind: 'task', connector: 'c', task: 0, status: RUNNING })
    await clock.advance(10_000)
    expect(deleted()).toEqual([])
  })
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
  const fencedAs: unknown[] = []
  const clock = new FakeClock()
  const write = async (records: readonly ConfigRecord[]) => {
    written.push(...records)
    for (const record of records) configs.apply(record)
    await afterWrite()
  }
  const statuses = new StatusState()
  const changes = new ConnectorChanges()
  const deleted: string[] = []
  let isRejecting = false
  const deleteStatus = async (key: StatusKey) => {
    if (isRejecting) throw new BrokerError('unavailable', 'no broker')
    deleted.push(toStatusKey(key))
    if (key.kind !== 'topic') statuses.apply({ ...key, status: null })
  }
  let isLeader = true
  let afterWrite: () => Promise<void> | void = () => {}
  let afterFencing = () => {}
  const broker = {
    newProducerIdentity: async (transactionalId: string) => {
      fenced.push(transactionalId)
      afterFencing()
    },
  } as unknown as Broker
  const leader = new LeaderDuties({
    broker,
    brokers: {
      run: (kind, config, action) => {
        fencedAs.push([kind, config])
        return action(broker)
      },
    },
    groupId: 'workers',
    logger: silentLogger(),
    clock,
    configs: {
      state: configs,
      changes,
      putTasks: async (connector: string, tasks: readonly RawConfig[]) =>
        write([
          ...tasks.map((config, task) => ({ kind: 'task', connector, task, config }) as const),
          { kind: 'commit', connector, tasks: tasks.length },
        ]),
      readToEnd: async () => undefined,
      write,
      deleteRemainingRecords: (connector: string) =>
        write([
          { kind: 'commit', connector, tasks: null },
          { kind: 'fencing', connector, tasks: null },
        ]),
    } as unknown as ConfigStore,
    statuses: { state: statuses, delete: deleteStatus } as unknown as StatusStore,
    isLeader: () => isLeader,
    isSource: () => true,
    sessionKey: { ttlMs: HOUR_MS, algorithm: 'HmacSHA256', bytes: 32 },
  })
  return {
    ...{ leader, configs, changes, write, written, fenced, fencedAs, clock },
    deleted: () => deleted,
    readStatus: (change: StatusChange) => {
      statuses.apply(change)
      leader.statusRead(change)
    },
    rejectDeletions: (rejects: boolean) => {
      isRejecting = rejects
    },
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
