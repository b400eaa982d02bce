import { describe, expect, it } from 'vitest'
import { type ConfigRecord, parseConfigRecord } from '../../../src/worker/stores/config-codec.ts'
import { ConfigState } from '../../../src/worker/stores/config-state.ts'
import { parseStatusRecord } from '../../../src/worker/stores/status-codec.ts'
import { isSafeWrite, StatusState } from '../../../src/worker/stores/status-state.ts'
import { GOLDEN } from './golden-topics.ts'

const connector = 'c'
const config = { name: 'c' }
const task = (number: number): ConfigRecord => ({
  kind: 'task',
  connector,
  task: number,
  config: { n: String(number) },
})
const commit = (tasks: number): ConfigRecord => ({ kind: 'commit', connector, tasks })

function stateOf(...records: ConfigRecord[]): ConfigState {
  const state = new ConfigState()
  for (const record of records) state.apply(record)
  return state
}

describe('ConfigState', () => {
  it('applies task configurations when their commit record arrives', () => {
    const state = stateOf({ kind: 'connector', connector, config }, task(0), task(1))
    expect(state.connector('c')).toMatchObject({ tasks: [], target: 'STARTED' })
    state.apply(commit(2))
    expect(state.connector('c')).toMatchObject({
      tasks: [{ n: '0' }, { n: '1' }],
      taskGeneration: 0,
      appliedConfig: config,
      pendingFencing: true,
    })
  })

  it('returns no tasks when a committed set of task configurations is incomplete', () => {
    const state = stateOf({ kind: 'connector', connector, config }, task(0), commit(1), task(1), commit(2))
    expect(state.connector('c')).toMatchObject({ tasks: [], inconsistent: true, taskGeneration: 0 })
  })

  it('accepts a target state that precedes its connector', () => {
    const state = stateOf({ kind: 'target', connector, target: 'PAUSED' }, { kind: 'connector', connector, config })
    expect(state.connectors()).toMatchObject([{ name: 'c', target: 'PAUSED' }])
  })

  it('removes a deleted connector and lists the records that it left', () => {
    const state = stateOf({ kind: 'connector', connector, config }, task(0), commit(1))
    state.apply({ kind: 'connector', connector, config: null })
    expect(state.connectors()).toEqual([])
    expect(state.deletedConnectorsWithRecords()).toEqual(['c'])
    state.apply({ kind: 'commit', connector, tasks: null })
    expect(state.deletedConnectorsWithRecords()).toEqual([])
  })

  it('marks fencing as pending when new task configurations are committed', () => {
    const state = stateOf({ kind: 'connector', connector, config }, task(0), commit(1))
    state.apply({ kind: 'fencing', connector, tasks: 1 })
    expect(state.connector('c')).toMatchObject({ fencedTasks: 1, pendingFencing: false })
    for (const record of [task(0), commit(1)]) state.apply(record)
    expect(state.connector('c')).toMatchObject({ pendingFencing: true })
  })

  it('keeps the tasks of an unchanged configuration that is written again with them', () => {
    const fencing = { kind: 'fencing', connector, tasks: 2 } as const
    const first = [{ kind: 'connector', connector, config }, task(0), task(1), commit(2)] as const
    const state = stateOf(...first, fencing)
    const before = state.connector('c')!
    for (const record of first) state.apply({ ...record, ...('config' in record && { config: { ...record.config } }) })
    const after = state.connector('c')!
    expect(after.config).not.toBe(before.config)
    expect(after.tasks).toBe(before.tasks)
    expect(after).toMatchObject({ taskGeneration: 0, pendingFencing: false })
    state.apply({ kind: 'connector', connector, config })
    for (const record of [task(0), commit(1)]) state.apply(record)
    expect(state.connector('c')).toMatchObject({ tasks: [{ n: '0' }], taskGeneration: 1, pendingFencing: true })
  })

  it('has to fence the tasks of a connector whose last configuration follows its tasks', () => {
    const state = stateOf({ kind: 'fencing', connector, tasks: 2 }, commit(0), { kind: 'connector', connector, config })
    expect(state.connector('c')).toMatchObject({ tasks: [], fencedTasks: 2, pendingFencing: true })
  })

  it('ends with the connectors of the recorded Java worker after replaying its records', () => {
    const state = new ConfigState()
    for (const { topic, key, value } of GOLDEN) {
      const record = topic === 'connect-configs' ? parseConfigRecord(key, value) : undefined
      if (record) state.apply(record)
    }
    expect(state.connectors().map(({ name }) => name)).toEqual(['a', 'a/b', '100%'])
    expect(state.session).toMatchObject({ algorithm: 'HmacSHA256' })
  })
})

describe('StatusState', () => {
  const apply = (state: StatusState, key: string, value: string | null) => {
    const record = parseStatusRecord(key, value)
    if (record) state.apply(record)
  }
  const status = (state: string, generation: number, worker = 'h:1') =>
    JSON.stringify({ state, trace: null, worker_id: worker, generation, version: null })

  it.each(['RUNNING', 'PAUSED', 'FAILED'])(
    'ignores an UNASSIGNED status of an earlier owner, when it is %s elsewhere',
    (known) => {
      const state = new StatusState()
      for (const key of ['status-connector-c', 'status-task-c-0']) {
        apply(state, key, status(known, 5, 'h:2'))
        apply(state, key, status('UNASSIGNED', 5, 'h:1'))
      }
      expect([state.connector('c'), state.task('c', 0)]).toMatchObject([{ state: known }, { state: known }])
      for (const key of ['status-connector-c', 'status-task-c-0']) apply(state, key, status('UNASSIGNED', 6, 'h:2'))
      expect([state.connector('c')?.state, state.task('c', 0)?.state]).toEqual(['UNASSIGNED', 'UNASSIGNED'])
    },
  )

  it('ignores an UNASSIGNED status with a reason of an earlier owner, whose task was fenced', () => {
    const state = new StatusState()
    const waiting = (generation: number, worker_id: string) =>
      JSON.stringify({ state: 'UNASSIGNED', trace: 'fenced', worker_id, generation, version: null })
    apply(state, 'status-task-c-0', status('RUNNING', 9, 'h:2'))
    apply(state, 'status-task-c-0', waiting(7, 'h:1'))
    expect(state.task('c', 0)).toMatchObject({ state: 'RUNNING', worker_id: 'h:2' })
    apply(state, 'status-task-c-0', waiting(10, 'h:1'))
    expect(state.task('c', 0)).toMatchObject({ state: 'UNASSIGNED', worker_id: 'h:1' })
  })

  it('ignores a RESTARTING status of an earlier owner, whose restart did not end there', () => {
    const state = new StatusState()
    for (const key of ['status-connector-c', 'status-task-c-0']) {
      apply(state, key, status('RUNNING', 8, 'h:2'))
      apply(state, key, status('RESTARTING', 4, 'h:1'))
    }
    expect([state.connector('c'), state.task('c', 0)]).toMatchObject([{ state: 'RUNNING' }, { state: 'RUNNING' }])
    for (const key of ['status-connector-c', 'status-task-c-0']) apply(state, key, status('RESTARTING', 8, 'h:2'))
    expect([state.connector('c')?.state, state.task('c', 0)?.state]).toEqual(['RESTARTING', 'RESTARTING'])
  })

  it('ignores the FAILED status of an earlier owner, and what it writes then', () => {
    const state = new StatusState()
    apply(state, 'status-task-c-0', status('RUNNING', 4, 'h:1'))
    apply(state, 'status-task-c-0', status('RUNNING', 5, 'h:2'))
    apply(state, 'status-task-c-0', status('FAILED', 4, 'h:1'))
    apply(state, 'status-task-c-0', status('UNASSIGNED', 4, 'h:1'))
    expect(state.task('c', 0)).toMatchObject({ state: 'RUNNING', worker_id: 'h:2' })
    apply(state, 'status-task-c-0', status('FAILED', 5, 'h:2'))
    expect(state.task('c', 0)).toMatchObject({ state: 'FAILED', worker_id: 'h:2' })
  })

  it('applies the FAILED status of a new owner', () => {
    const state = new StatusState()
    apply(state, 'status-task-c-0', status('RUNNING', 4, 'h:1'))
    apply(state, 'status-task-c-0', status('FAILED', 5, 'h:2'))
    expect(state.task('c', 0)).toMatchObject({ state: 'FAILED', worker_id: 'h:2' })
    // A group that was deleted begins again with generation 1: its worker has taken over what is unassigned.
    apply(state, 'status-task-c-0', status('UNASSIGNED', 5, 'h:2'))
    apply(state, 'status-task-c-0', status('FAILED', 1, 'h:3'))
    expect(state.task('c', 0)).toMatchObject({ state: 'FAILED', worker_id: 'h:3' })
  })

  it('applies the UNASSIGNED status of a worker that has lost its membership, which has no newer generation', () => {
    const state = new StatusState()
    apply(state, 'status-task-c-0', status('RUNNING', 5, 'h:1'))
    apply(state, 'status-task-c-0', status('UNASSIGNED', 5, 'h:1'))
    expect(state.task('c', 0)).toMatchObject({ state: 'UNASSIGNED' })
  })

  it('removes the statuses of tasks together with that of their connector', () => {
    const state = new StatusState()
    apply(state, 'status-connector-c', status('RUNNING', 1))
    apply(state, 'status-task-c-0', status('RUNNING', 1))
    apply(state, 'status-connector-c', null)
    expect(state.names()).toEqual([])
  })

  it('records the topics that a connector uses, until they are reset', () => {
    const state = new StatusState()
    apply(state, 'status-topic-lines:connector-c', '{}')
    expect(state.topics('c')).toEqual(['lines'])
    apply(state, 'status-topic-lines:connector-c', null)
    expect(state.topics('c')).toEqual([])
  })

  it('does not overwrite the status that another worker wrote in a later generation', () => {
    const mine = { state: 'FAILED', trace: null, worker_id: 'h:1', generation: 4 } as const
    expect(isSafeWrite(undefined, mine)).toBe(true)
    expect(isSafeWrite({ ...mine, generation: 9 }, mine)).toBe(true)
    expect(isSafeWrite({ ...mine, worker_id: 'h:2', generation: 9 }, mine)).toBe(false)
    expect(isSafeWrite({ ...mine, worker_id: 'h:2', generation: 4 }, mine)).toBe(true)
  })
})
