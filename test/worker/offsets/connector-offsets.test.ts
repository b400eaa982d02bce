import { expect, it } from 'vitest'
import { ConnectorOffsets, type ConnectorOffsetsOptions } from '../../../src/worker/offsets/connector-offsets.ts'
import type { ConnectorState } from '../../../src/worker/stores/config-state.ts'

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
