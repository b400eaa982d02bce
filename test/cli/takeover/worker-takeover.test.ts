import { describe, expect, it } from 'vitest'
import { isComplete, statusText, type TakeoverGoal } from '../../../src/cli/takeover/takeover.ts'
import { type WorkerTakeoverInput, workerTakeover } from '../../../src/cli/takeover/worker-takeover.ts'
import type { RunState } from '../../../src/common/state-glossary.ts'
import { encodeWorkerMetadata } from '../../../src/worker/membership/connect-protocol.ts'

function groupOf(protocol: string, urls: readonly string[]): WorkerTakeoverInput['group'] {
  const members = urls.map((url) => ({
    memberId: url,
    clientId: 'connect',
    clientHost: '/127.0.0.1',
    metadata: encodeWorkerMetadata('sessioned', { url, configOffset: 1, assignment: null }),
    assignment: Buffer.alloc(0),
  }))
  return { groupId: 'c1', state: 'stable', protocolType: 'connect', protocol, members }
}

const JAVA = groupOf('sessioned', ['http://java:8083/'])
const WEIR = groupOf('weir-sessioned', ['http://weir:8083/'])
const NOBODY = groupOf('', [])

function connector(state: RunState, tasks: readonly RunState[] = ['RUNNING'], className = 'JdbcSink') {
  const worker_id = 'w:8083'
  const status = {
    name: 'orders',
    connector: { state, worker_id },
    tasks: tasks.map((task, id) => ({ id, state: task, worker_id })),
    type: 'sink' as const,
  }
  return { name: 'orders', class: className, status, offsets: 3 }
}

const PLUGINS = [
  ['JdbcSink', 'io.confluent.connect.jdbc.JdbcSinkConnector'],
  ['PostgresSink', 'com.example.PgSinkConnector'],
  ['Datagen'],
]

const takeoverOf = (input: Partial<WorkerTakeoverInput>, goal?: TakeoverGoal) =>
  workerTakeover(
    {
      group: JAVA,
      connectors: [connector('RUNNING')],
      missingTopics: [],
      namesOf: (name) => PLUGINS.find((names) => names.includes(name)) ?? [],
      ...input,
    },
    goal,
  )
const nextOf = (input: Partial<WorkerTakeoverInput>) => /^Next: (.*)$/m.exec(statusText(takeoverOf(input)))?.[1]

describe('the takeover of a worker group', () => {
  it('shows the workers, the connectors with their states, and how many offsets they have', () => {
    expect(takeoverOf({ missingTopics: ['c1-status'] }).facts).toEqual([
      'Group c1: stable, 1 workers of Kafka Connect, 0 of Weir.',
      '  http://java:8083/',
      'Storage topics that do not exist: c1-status.',
      'Connectors: 1.',
      '  orders: JdbcSink, RUNNING, tasks RUNNING, 3 offsets',
    ])
    const unknown = takeoverOf({ connectors: undefined, problem: 'no worker responds' })
    expect(unknown.facts.at(-1)).toBe('Connectors: not known, because no worker responds.')
  })

  it('needs the jars of classes that do not ship', () => {
    expect(nextOf({ connectors: [connector('RUNNING', [], 'com.example.Sink')] })).toBe(
      "Install the jars of these classes in plugin.path of Weir's workers: com.example.Sink.",
    )
    expect(nextOf({ connectors: undefined, problem: 'none' })).toContain('Check that Weir has a plugin')
  })

  it('goes from stopping the Java workers to starting those of Weir', () => {
    expect(nextOf({})).toContain('Stop all workers of Kafka Connect')
    expect(nextOf({ group: NOBODY })).toContain('Start `weir worker` with the same settings file')
    expect(statusText(takeoverOf({ group: NOBODY }))).toContain('Back: Start the workers of Kafka Connect again')
  })

  it.each<[string, ReturnType<typeof connector>, boolean]>([
    ['a failed task', connector('RUNNING', ['RUNNING', 'FAILED']), false],
    ['a connector that is not assigned', connector('UNASSIGNED', []), false],
    ['a connector without tasks', connector('RUNNING', []), false],
    ['a connector without a status', { ...connector('RUNNING'), status: undefined as never }, false],
    ['a running connector', connector('RUNNING'), true],
    ['a paused connector', connector('PAUSED', ['PAUSED']), true],
    ['a stopped connector', connector('STOPPED', []), true],
  ])('is complete, or not, with %s', (_, found, expected) => {
    expect(isComplete(takeoverOf({ group: WEIR, connectors: [found] }))).toBe(expected)
  })

  it.each<[string, Partial<WorkerTakeoverInput>, string]>([
    ['workers of Weir', { group: WEIR }, "Next: Stop all of Weir's workers"],
    [
      'names that only Weir has',
      { group: WEIR, connectors: [connector('RUNNING', [], 'PostgresSink'), connector('RUNNING', [], 'Datagen')] },
      'Next: Declare these connectors with a class that Kafka Connect knows, and its keys: ' +
        'orders (PostgresSink, com.example.PgSinkConnector), orders (Datagen, which has no counterpart).',
    ],
    ['no workers', { group: NOBODY }, 'Next: Start the workers of Kafka Connect with the same settings file'],
    ['a failed task', { connectors: [connector('RUNNING', ['FAILED'])] }, 'Next: Wait for, or mend'],
    ['unknown connectors', { connectors: undefined, problem: 'none' }, 'Next: Check that every connector'],
    ['running connectors', {}, 'Next: Nothing: the return is complete.\nBack: Stop the workers of Kafka Connect'],
    ['a class that does not ship', { connectors: [connector('RUNNING', ['RUNNING'], 'com.example.Sink')] }, 'complete'],
  ])('is reversed by a return, which continues with %s', (_, input, expected) => {
    const back = takeoverOf(input, 'return')
    expect([statusText(back), isComplete(back)]).toEqual([
      expect.stringContaining(expected),
      expected.includes('complete'),
    ])
  })

  it('is not complete when the connectors are not known', () => {
    expect(isComplete(takeoverOf({ group: WEIR, connectors: undefined, problem: 'none' }))).toBe(false)
  })
})
