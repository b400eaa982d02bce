import { describe, expect, it } from 'vitest'
import { printExactJson } from '../../../src/common/exact-json.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { ConnectorOffsets, type ConnectorOffsetsOptions } from '../../../src/worker/offsets/connector-offsets.ts'
import type { ConnectorState } from '../../../src/worker/stores/config-state.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { topicAccess } from '../../support/topic-access.ts'

const STATES: readonly Pick<ConnectorState, 'target' | 'tasks'>[] = [
  { target: 'STARTED', tasks: [] },
  { target: 'PAUSED', tasks: [{}] },
  { target: 'STOPPED', tasks: [{}] },
]

it.each(STATES)('changes no offsets of a connector in the state %j, whose tasks may run', async (state) => {
  const connector = { name: 'c', config: {}, ...state } as ConnectorState
  // Nothing may be read or written, so no dependency is needed.
  const offsets = new ConnectorOffsets({} as ConnectorOffsetsOptions)
  for (const change of [offsets.alter(connector, []), offsets.reset(connector)]) {
    await expect(change).rejects.toMatchObject({
      code: 'not_stopped',
      message: expect.stringContaining("issuing a 'PUT' request to the '/connectors/c/stop' endpoint"),
    })
  }
})

it('changes offsets of a stopped connector only when its tasks have ended, because they commit theirs when they stop', async () => {
  const { offsets, clock, log, endTasks } = stoppedSource()
  const changes = [offsets.reset(STOPPED), offsets.alter(STOPPED, [{ partition: { table: 'a' }, offset: { row: 7 } }])]
  await clock.advance(1_000)
  expect(log).toEqual([])
  endTasks()
  await clock.advance(50)
  await Promise.all(changes)
  expect(log).toEqual(['write nothing', 'write {"row":7}'])
})

it('rejects a change of offsets as during a rebalance when the tasks do not end in time', async () => {
  const { offsets, clock, log } = stoppedSource()
  const reset = offsets.reset(STOPPED).catch((error: unknown) => error)
  await clock.advance(5_050)
  expect(await reset).toMatchObject({ code: 'rebalancing', message: expect.stringContaining('tasks of connector c') })
  expect(log).toEqual([])
})

describe('offsets of a sink whose consumer connects to other servers than the worker', () => {
  it('are not reported as missing or reset when they may be in another cluster', async () => {
    const { offsets, sink, log } = stoppedSink([])
    for (const request of [offsets.list(sink('elsewhere:9092')), offsets.reset(sink('elsewhere:9092'))]) {
      await expect(request).rejects.toMatchObject({
        code: 'offsets_refused',
        message: expect.stringContaining('set admin.override.bootstrap.servers to them, too'),
      })
    }
    expect(log).toEqual([])
    expect(await offsets.list(sink('other:9092, KAFKA:9092'))).toEqual([])
  })

  it('are those of the cluster of the worker if they are there', async () => {
    const { offsets, sink, log } = stoppedSink([{ topic: 't', partition: 0, offset: 5 }])
    expect(await offsets.list(sink('listener:9093'))).toMatchObject([{ offset: { kafka_offset: 5 } }])
    await offsets.reset(sink('listener:9093'))
    expect(log).toEqual(['delete connect-c'])
  })
})

/** The offsets of a stopped sink, by the `bootstrap.servers` of its consumer. Those of the worker are `kafka:9092`. */
function stoppedSink(committed: readonly object[]) {
  const log: string[] = []
  const broker = {
    address: async () => ({ kind: 'kafka', config: { 'bootstrap.servers': 'kafka:9092' } }),
    groups: { offsets: async () => committed, delete: async (group: string) => void log.push(`delete ${group}`) },
  }
  const offsets = new ConnectorOffsets({
    brokers: { run: (_: unknown, __: unknown, action: (one: object) => unknown) => action(broker) },
    plugins: { catalog: { find: (kind: string) => (kind === 'sink' ? { kind } : undefined) } },
    accessOf: () => topicAccess(),
    haveTasksEnded: () => true,
    clock: new FakeClock(),
  } as unknown as ConnectorOffsetsOptions)
  const sink = (servers: string): ConnectorState => ({
    ...STOPPED,
    config: { ...STOPPED.config, 'consumer.override.bootstrap.servers': servers },
  })
  return { offsets, sink, log }
}

const STOPPED = {
  name: 'c',
  config: { 'connector.class': 'Test' },
  target: 'STOPPED',
  tasks: [] as const,
} as unknown as ConnectorState

/** The offsets of a stopped source whose tasks run until `endTasks` is called. */
function stoppedSource() {
  const clock = new FakeClock()
  const log: string[] = []
  let haveEnded = false
  const offsets = new ConnectorOffsets({
    plugins: {
      catalog: { find: () => ({ kind: 'source', altersOffsets: true }) },
      call: async () => 'altered',
    },
    resolver: { resolve: async (config: RawConfig) => ({ config, placeholderValues: new Map() }) },
    offsets: {
      read: async () => [{ partition: { table: 'a' }, offset: { row: 3 } }],
      write: async (_: string, __: RawConfig, written: readonly { readonly offset: object | null }[]) => {
        for (const { offset } of written) log.push(`write ${offset === null ? 'nothing' : printExactJson(offset)}`)
      },
    },
    accessOf: () => topicAccess(),
    haveTasksEnded: () => haveEnded,
    clock,
  } as unknown as ConnectorOffsetsOptions)
  return {
    offsets,
    clock,
    log,
    endTasks: () => {
      haveEnded = true
    },
  }
}
