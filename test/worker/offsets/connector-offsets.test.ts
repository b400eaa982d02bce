import { expect, it } from 'vitest'
import { printExactJson } from '../../../src/common/exact-json.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import { ConnectorOffsets, type ConnectorOffsetsOptions } from '../../../src/worker/offsets/connector-offsets.ts'
import type { ConnectorState } from '../../../src/worker/stores/config-state.ts'
import { FakeClock } from '../../support/fake-clock.ts'

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
