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

  it('ignores an UNASSIGNED status of a worker that no longer runs the task', () => {
    const state = new StatusState()
    apply(state, 'status-task-c-0', status('RUNNING', 5, 'h:2'))
    apply(state, 'status-task-c-0', status('UNASSIGNED', 5, 'h:1'))
    expect(state.task('c', 0)).toMatchObject({ state: 'RUNNING' })
    apply(state, 'status-task-c-0', status('UNASSIGNED', 6, 'h:2'))
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
