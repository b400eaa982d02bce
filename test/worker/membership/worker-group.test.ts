import { describe, expect, it, onTestFinished } from 'vitest'
import type { Broker, Generation, GroupMembershipOptions } from '../../../src/broker/broker.ts'
import { systemClock } from '../../../src/common/clock.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import {
  type ConnectorsAndTasks,
  encodeWorkerAssignment,
  NO_WORK,
  type WorkerAssignment,
} from '../../../src/worker/membership/connect-protocol.ts'
import { WorkerGroup, type WorkerGroupOptions } from '../../../src/worker/membership/worker-group.ts'
import { taskKey } from '../../../src/worker/model/task-key.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { openTestBroker } from '../../support/topic.ts'

const WAIT = { interval: 10 }

describe('a worker group', () => {
  it('distributes work, locates the owner of each task, and reassigns the work of a member that leaves', async () => {
    const { join } = await openGroup(4)
    const first = await join('a')
    expect(first.tasks()).toEqual(['c-0', 'c-1', 'c-2', 'c-3'])
    const second = await join('b')
    await expect.poll(() => [first.tasks().length, second.tasks().length], WAIT).toEqual([2, 2])
    const [leader, follower] = first.group.isLeader ? [first, second] : [second, first]
    expect(follower.group.isLeader).toBe(false)
    expect(follower.group.leaderUrl).toBe(leader.url)
    for (const { group, url } of [first, second]) {
      for (const task of group.work.tasks) {
        expect(group.has(task)).toBe(true)
        expect(leader.group.urlOf(task)).toBe(url)
      }
    }
    await follower.group.leave()
    await expect.poll(() => leader.tasks(), WAIT).toHaveLength(4)
  })

  it('requests a rebalance after a configuration change from the leader only', async () => {
    const { join, configure } = await openGroup(2)
    const first = await join('a')
    const second = await join('b')
    await expect.poll(() => [first.tasks().length, second.tasks().length], WAIT).toEqual([1, 1])
    const [leader, follower] = first.group.isLeader ? [first, second] : [second, first]
    const rebalances = follower.group.rebalances.count
    configure(6)
    follower.group.rebalanceIfWorkChanged()
    expect(follower.group.rebalances.count).toBe(rebalances)
    leader.group.rebalanceIfWorkChanged()
    await expect.poll(() => [first.tasks().length, second.tasks().length], WAIT).toEqual([3, 3])
  })

  it('reports the end of the tasks of a connector when the members that ran them have joined the next rebalance', async () => {
    const { join, configure } = await openGroup(2)
    const ending = Promise.withResolvers<void>()
    const onAssigned = async () => (configured === 0 ? ending.promise : undefined)
    let configured = 2
    const first = await join('a', { onAssigned })
    const second = await join('b', { onAssigned })
    await expect.poll(() => [first.tasks().length, second.tasks().length], WAIT).toEqual([1, 1])
    const [leader, follower] = first.group.isLeader ? [first, second] : [second, first]
    const haveEnded = () => [leader, follower].map(({ group }) => group.haveTasksEnded('c'))
    expect(haveEnded()).toEqual([false, false])
    configured = 0
    configure(0)
    leader.group.rebalanceIfWorkChanged()
    await expect.poll(() => [first.tasks().length, second.tasks().length], WAIT).toEqual([0, 0])
    expect(haveEnded()).toEqual([false, false])
    ending.resolve()
    await expect.poll(haveEnded, WAIT).toEqual([true, false])
  })

  it('repeats a rebalance in which the leader had read less of the config topic than another worker', async () => {
    const { join } = await openGroup(2)
    let offset = 5
    let failures = 0
    const readConfigs = async () => {
      if (offset === 5) return
      if (failures++ === 2) offset = 5
      else throw new Error('no leader')
    }
    const behind = await join('a', { configOffset: () => offset, readConfigs })
    offset = 1
    const ahead = await join('b', { configOffset: () => 5 })
    await expect.poll(() => [behind.tasks().length, ahead.tasks().length], WAIT).toEqual([1, 1])
    expect(failures).toBe(3)
  })
})

describe('a member of a worker group', () => {
  it('revokes all its work when it is removed from the group', async () => {
    const done: string[] = []
    const { group, protocol } = await joinFake({ onLost: async () => void done.push('lost') })
    await protocol().onJoined(generationOf({ assigned: workOf(2) }))
    expect([group.work.tasks.length, group.has({ connector: 'c', task: 1 }), group.leaderUrl]).toEqual([2, true, URL])
    await protocol().onLost?.(new Error('the session is over'))
    expect(done).toEqual(['lost'])
    expect([group.work.tasks.length, group.has({ connector: 'c', task: 1 }), group.leaderUrl]).toEqual([
      0,
      false,
      undefined,
    ])
    expect(group.isLeader).toBe(false)
  })

  it('reports the durations of rebalances and the time since the last one', async () => {
    const { group, protocol, clock } = await joinFake({})
    expect(group.rebalances).toMatchObject({ count: 0, isInProgress: false })
    protocol().protocols()
    await clock.advance(50)
    expect(group.rebalances.isInProgress).toBe(true)
    await protocol().onJoined(generationOf({}))
    await clock.advance(30)
    expect(group.rebalances).toEqual({ count: 1, msTotal: 50, msMax: 50, sinceLastMs: 30, isInProgress: false })
  })

  it('is the leader only until its session may have expired', async () => {
    const { group, protocol, clock } = await joinFake({})
    await protocol().onJoined(generationOf({}))
    expect(group.isLeader).toBe(true)
    await clock.advance(VALID_MS)
    expect(group.isLeader).toBe(false)
  })

  it('may start no work until it has read the configurations of its assignment, and is told when it has', async () => {
    let offset = 4
    let isReadable = false
    const done: string[] = []
    const onAssigned = async () => void done.push(`assigned at ${offset}`)
    const readConfigs = async () => {
      if (!isReadable) throw new Error('no leader')
      offset = 5
    }
    const { group, protocol, clock } = await joinFake({ configOffset: () => offset, readConfigs, onAssigned })
    await protocol().onJoined({ ...generationOf({ assigned: workOf(2) }), leaderId: 'other' })
    // What is revoked must be stopped all the same.
    expect([done, group.work.tasks.length, group.mayStartWork]).toEqual([['assigned at 4'], 2, false])
    await clock.advance(5_000)
    isReadable = true
    await clock.advance(2_000)
    expect([done, group.mayStartWork]).toEqual([['assigned at 4', 'assigned at 5'], true])
  })

  it('may start no work when its session may have expired', async () => {
    const { group, protocol, clock } = await joinFake({})
    await protocol().onJoined(generationOf({}))
    expect(group.mayStartWork).toBe(true)
    await clock.advance(VALID_MS)
    expect(group.mayStartWork).toBe(false)
  })

  it('reads what the former leader has stored before it assigns work, and is not the leader until it has', async () => {
    let isReadable = true
    let configured = NO_WORK
    const readConfigs = async () => {
      if (!isReadable) throw new Error('no leader')
      configured = workOf(1)
    }
    const { group, round, clock } = await joinLeader({ readConfigs, configuredWork: () => configured })
    await round(1)
    expect([group.isLeader, group.work]).toEqual([true, workOf(1)])
    isReadable = false
    await round(2)
    expect([group.isLeader, group.mayStartWork]).toEqual([false, true])
    isReadable = true
    await clock.advance(2_000)
    expect(group.isLeader).toBe(true)
  })

  it('does not read on when it has left, or has lost its membership', async () => {
    for (const end of ['leave', 'lose'] as const) {
      let readings = 0
      const readConfigs = async () => {
        readings += 1
        throw new Error('no leader')
      }
      const { group, protocol, clock } = await joinFake({ readConfigs, configOffset: () => 4 })
      await protocol().onJoined({ ...generationOf({}), leaderId: 'other' })
      await clock.advance(5_000)
      expect(readings).toBeGreaterThan(2)
      if (end === 'leave') await group.leave()
      else await protocol().onLost?.(new Error('the session is over'))
      readings = 0
      await clock.advance(60_000)
      expect(readings).toBe(0)
    }
  })

  it('delays the next rebalance by 20 ms for each connector and task that the last one moved, and combines changes meanwhile', async () => {
    const { group, change, round, requests, clock } = await joinLeader()
    await round(1, { tasks: 2 })
    for (const tasks of [3, 4, 5]) {
      change(tasks)
      await clock.advance(19)
    }
    expect(requests).toEqual([])
    await clock.advance(3)
    expect(requests).toEqual(['the configured work changed'])
    await round(2, { tasks: 7 })
    await clock.advance(80)
    expect(requests).toHaveLength(1)
    group.rebalanceIfWorkChanged()
    expect(requests).toHaveLength(1)
  })

  it('delays a rebalance by three times the duration of those before it as far as that exceeds one second', async () => {
    const { change, round, requests, clock } = await joinLeader()
    const changeAfterRebalance = async (tasks: number, delayMs: number) => {
      const before = requests.length
      await round(tasks, { tasks, tookMs: 200 })
      change(tasks + 1)
      await clock.advance(delayMs - 1)
      expect(requests).toHaveLength(before)
      await clock.advance(1)
      expect(requests).toHaveLength(before + 1)
    }
    await round(1, { tasks: 1 })
    await clock.advance(1_000)
    await changeAfterRebalance(2, 20)
    await changeAfterRebalance(3, 20)
    // Backoffs of 600 ms after each of three rebalances, less the 440 ms that have passed and the 1 s that is not waited for.
    await changeAfterRebalance(4, 360)
    await clock.advance(2_000)
    await changeAfterRebalance(5, 20)
  })

  it('delays the next rebalance by at most one second', async () => {
    let configured = workOf(5_000)
    const { group, protocol, requests, clock } = await joinFake({ configuredWork: () => configured })
    const members = [{ memberId: 'm', metadata: protocol().protocols()[0]!.metadata }]
    await protocol().assign('weir-sessioned', members, { memberId: 'm', generation: 1 })
    await protocol().onJoined(generationOf({ assigned: configured }))
    configured = workOf(5_001)
    group.rebalanceIfWorkChanged()
    await clock.advance(999)
    expect(requests).toEqual([])
    await clock.advance(1)
    expect(requests).toHaveLength(1)
  })

  it('requests a rebalance although its leadership may have expired, because no other worker may do so', async () => {
    const { group, protocol, requests, clock } = await joinFake({ configuredWork: () => workOf(1) })
    await protocol().onJoined(generationOf({}))
    await clock.advance(VALID_MS)
    requests.length = 0
    group.rebalanceIfWorkChanged()
    expect([group.isLeader, requests]).toEqual([false, ['the configured work changed']])
  })

  it('requests a rebalance after work was revoked, after the delay of lost work, and when the leader lagged behind', async () => {
    const { protocol, requests, clock } = await joinFake({})
    await protocol().onJoined(generationOf({ revoked: workOf(1) }))
    expect(requests).toEqual(['work was revoked'])
    await protocol().onJoined(generationOf({ delayMs: 300 }))
    await clock.advance(299)
    expect(requests).toHaveLength(1)
    await clock.advance(1)
    expect(requests.slice(1)).toEqual(['the delay for the work of a lost worker has passed'])
    await protocol().onJoined(generationOf({ delayMs: 300 }))
    await protocol().onJoined(generationOf({ error: 1 }))
    await clock.advance(300)
    expect(requests.slice(2)).toEqual(['the leader had not read all configurations'])
  })
})

const URL = 'http://leader/'
const VALID_MS = 10_000

/** Joins a group whose coordinator the test controls. */
async function joinFake(changes: Partial<WorkerGroupOptions>) {
  const clock = new FakeClock()
  const requests: string[] = []
  let options: GroupMembershipOptions | undefined
  const validUntilMs = clock.monotonicMs() + VALID_MS
  const member = { memberId: 'm', validUntilMs: () => validUntilMs, rejoin: (reason: string) => requests.push(reason) }
  const broker = {
    joinGroup: async (given: GroupMembershipOptions) => {
      options = given
      return { ...member, close: async () => undefined }
    },
  } as unknown as Broker
  const { group } = await joinGroup(broker, 'w', () => NO_WORK, { clock, ...changes })
  return { group, clock, requests, protocol: () => options!.protocol }
}

function generationOf(told: Partial<WorkerAssignment>): Generation {
  const nothing = { error: 0, leaderId: 'm', leaderUrl: URL, configOffset: 5, delayMs: 0 }
  const assignment = encodeWorkerAssignment('sessioned', { ...nothing, assigned: NO_WORK, revoked: NO_WORK, ...told })
  return { generation: 1, memberId: 'm', leaderId: 'm', protocol: 'weir-sessioned', assignment }
}

async function openGroup(tasks: number) {
  const broker = await openTestBroker()
  let configured = workOf(tasks)
  return {
    configure: (count: number) => {
      configured = workOf(count)
    },
    join: (name: string, changes: Partial<WorkerGroupOptions> = {}) =>
      joinGroup(broker, name, () => configured, changes),
  }
}

/** A leader of a fake group, whose configured work and rebalances are those of the test. */
async function joinLeader(changes: Partial<WorkerGroupOptions> = {}) {
  let configured = NO_WORK
  const { group, protocol, requests, clock } = await joinFake({ configuredWork: () => configured, ...changes })
  const change = (tasks: number) => {
    configured = workOf(tasks)
    group.rebalanceIfWorkChanged()
  }
  const round = async (generation: number, { tasks = 0, tookMs = 0 }: { tasks?: number; tookMs?: number } = {}) => {
    configured = workOf(tasks)
    const members = [{ memberId: 'm', metadata: protocol().protocols()[0]!.metadata }]
    const shares = await protocol().assign('weir-sessioned', members, { memberId: 'm', generation })
    await clock.advance(tookMs)
    await protocol().onJoined({ ...generationOf({}), assignment: shares.get('m')! })
  }
  return { group, change, round, requests, clock }
}

async function joinGroup(
  broker: Broker,
  name: string,
  configured: () => ConnectorsAndTasks,
  changes: Partial<WorkerGroupOptions>,
) {
  const url = `http://${name}/`
  const group = await WorkerGroup.join({
    broker,
    logger: silentLogger(),
    clock: systemClock,
    groupId: 'workers',
    clientId: name,
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 10_000,
    heartbeatMs: 20,
    delayMsMax: 0,
    protocols: ['sessioned', 'compatible'],
    url,
    configOffset: () => 5,
    readConfigs: async () => undefined,
    configuredWork: configured,
    onAssigned: async () => undefined,
    onLost: async () => undefined,
    ...changes,
  })
  onTestFinished(() => group.leave())
  return { url, group, tasks: () => group.work.tasks.map(taskKey).sort() }
}

function workOf(tasks: number): ConnectorsAndTasks {
  return { connectors: ['c'], tasks: Array.from({ length: tasks }, (_, task) => ({ connector: 'c', task })) }
}
