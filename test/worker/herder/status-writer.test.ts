import { expect, it } from 'vitest'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { addConnector, createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

const ID = { connector: 'c', task: 0 }
const START = { do: 'start-task', id: ID, config: SOURCE, target: 'STARTED' } as const

/** A runner whose status topic rejects writes until `recover` is called. */
function withoutStatusTopic(error: Error = new BrokerError('timeout', 'no leader')) {
  const test = createTestWorkRunner()
  const { put } = test.parts.statuses
  let isAvailable = false
  const attempted: string[] = []
  const attempt: typeof put = async (subject, status) => {
    attempted.push(status.state)
    if (!isAvailable) throw error
    await put(subject, status)
  }
  Object.assign(test.parts.statuses, { put: attempt, putSafe: attempt })
  addConnector(test.configs, 1)
  const recover = () => {
    isAvailable = true
  }
  return { ...test, attempted, recover }
}

it('writes the failure of a task when the status topic is available again', async () => {
  const { runner, tasks, statuses, clock, recover } = withoutStatusTopic()
  await runner.execute([START])
  tasks[0]?.report({ type: 'running' })
  tasks[0]?.report({ type: 'failed', trace: 'why' })
  await clock.advance(60_000)
  recover()
  await clock.advance(10_000)
  expect(statuses.task('c', 0)).toMatchObject({ state: 'FAILED', trace: 'why' })
})

it('does not fail a connector whose status cannot be written, and generates its tasks', async () => {
  const { runner, configs, stored, statuses, clock, recover } = withoutStatusTopic()
  addConnector(configs, 0)
  await runner.execute([{ do: 'start-connector', connector: configs.connector('c')! }])
  await clock.advance(0)
  expect(stored).toEqual(['c 1'])
  expect(runner.workerMetrics().connectors).toMatchObject([{ name: 'c', state: 'running' }])
  recover()
  await clock.advance(10_000)
  expect(statuses.connector('c')).toMatchObject({ state: 'RUNNING' })
})

it('retries only the newest status of a task', async () => {
  const { runner, tasks, written, clock, recover } = withoutStatusTopic()
  await runner.execute([START])
  tasks[0]?.report({ type: 'running' })
  tasks[0]?.report({ type: 'paused' })
  await clock.advance(1_000)
  recover()
  await clock.advance(60_000)
  expect(written).toEqual(['offsets', 'c-0 PAUSED'])
})

it.each([
  ['deleted connector', { kind: 'connector', connector: 'c', config: null }],
  ['removed task', { kind: 'commit', connector: 'c', tasks: 0 }],
] as const)('does not write the status of a %s later, because nobody would delete it', async (_, change) => {
  const { runner, configs, written, clock, recover } = withoutStatusTopic()
  await runner.execute([START])
  await runner.stopTask(ID)
  configs.apply(change)
  recover()
  await clock.advance(60_000)
  expect(written).toEqual(['offsets'])
})

it('writes the newest status when the right to write the topic is granted again', async () => {
  const { runner, tasks, statuses, clock, recover } = withoutStatusTopic(new BrokerError('not_authorized', 'WRITE'))
  await runner.execute([START])
  tasks[0]?.report({ type: 'running' })
  tasks[0]?.report({ type: 'failed', trace: 'why' })
  await clock.advance(600_000)
  recover()
  await clock.advance(10_000)
  expect(statuses.task('c', 0)).toMatchObject({ state: 'FAILED', trace: 'why' })
})

it('does not retry a status that the topic will never accept', async () => {
  const { runner, attempted, clock } = withoutStatusTopic(new BrokerError('record_too_large', 'too large'))
  await runner.execute([START])
  await runner.stopTask(ID)
  await clock.advance(60_000)
  expect(attempted).toEqual(['UNASSIGNED'])
})

it.each([
  ['the task', { kind: 'task', ...ID }],
  ['the connector, which hides those of its tasks', { kind: 'connector', connector: 'c' }],
] as const)(
  'writes the status of a task again that was hidden by a late deletion of that of %s',
  async (_, deleted) => {
    const { runner, tasks, configs, statuses, written, clock } = createTestWorkRunner()
    addConnector(configs, 1)
    await runner.execute([START])
    tasks[0]?.report({ type: 'running' })
    await clock.advance(0)
    const own = statuses.task('c', 0)
    const deletion = { ...deleted, status: null }
    const read = () => {
      statuses.apply(deletion)
      runner.statusRead(deletion)
    }
    written.length = 0
    read()
    read()
    await clock.advance(1_000)
    expect(written).toEqual(['c-0 RUNNING'])
    expect(statuses.task('c', 0)).toEqual(own)
    read()
    await clock.advance(1_000)
    expect(statuses.task('c', 0)).toEqual(own)
    // A deletion that this worker reads before the change of the configuration that led to it.
    read()
    configs.apply({ kind: 'connector', connector: 'c', config: null })
    await clock.advance(60_000)
    expect(statuses.task('c', 0)).toBeUndefined()
  },
)

it.each([
  ['is not assigned', 'UNASSIGNED', null],
  ['has failed', 'FAILED', 'fenced'],
] as const)(
  'writes a status again after a previous owner, which had not read it, has written that the task %s',
  async (_, state, trace) => {
    const { runner, tasks, statuses, written, clock } = createTestWorkRunner({ generation: () => 2 })
    const late = { state, trace, worker_id: 'previous:8083', generation: 1, version: null } as const
    await runner.execute([START])
    tasks[0]?.report({ type: 'running' })
    await clock.advance(0)
    const own = statuses.task('c', 0)
    written.length = 0
    runner.statusRead({ kind: 'task', ...ID, status: late })
    await clock.advance(0)
    expect(written).toEqual(['c-0 RUNNING'])
    expect(statuses.task('c', 0)).toEqual(own)
    await runner.stopTask(ID)
    await clock.advance(0)
    written.length = 0
    runner.statusRead({ kind: 'task', ...ID, status: late })
    await clock.advance(0)
    expect(written).toEqual([])
  },
)
