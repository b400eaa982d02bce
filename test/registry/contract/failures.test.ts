import { describe, expect, it } from 'vitest'
import { BrokerError, type BrokerErrorCode } from '../../../src/broker/error.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each write and each thing that can keep it from being stored, with the contract's words for it.

const REGISTER: Request = ['POST /subjects/s/versions', { schema: '"int"' }]
const UPDATE_CONFIG: Request = ['PUT /config', { compatibility: 'NONE' }]
const DELETE_CONFIG: Request = ['DELETE /config']
const UPDATE_MODE: Request = ['PUT /mode', { mode: 'READONLY' }]
const DELETE_MODE: Request = ['DELETE /mode']
const DELETE_CONTEXT: Request = ['DELETE /contexts/c']
const fails = (code: BrokerErrorCode) => ({ writeError: new BrokerError(code, 'on purpose') })
const NOBODY = { leaderUrl: undefined }
const UNREACHABLE = { leaderUrl: 'http://127.0.0.1:1' }

describe('a write that is not stored', () => {
  it.each<readonly [string, RegistryCase]>([
    [
      '50001 register',
      {
        faults: fails('unavailable'),
        when: REGISTER,
        ...errorResponse(50001, 'Register schema operation failed while writing to the Kafka store'),
      },
    ],
    [
      '50002 register',
      { faults: fails('timeout'), when: REGISTER, ...errorResponse(50002, 'Register operation timed out') },
    ],
    [
      '42209 register',
      {
        faults: fails('record_too_large'),
        when: REGISTER,
        ...errorResponse(42209, 'Register operation failed because schema is too large'),
      },
    ],
    [
      '50001 update config',
      {
        faults: fails('fenced'),
        when: UPDATE_CONFIG,
        ...errorResponse(50001, 'Failed to update compatibility level'),
      },
    ],
    [
      '50001 delete config',
      {
        faults: fails('fenced'),
        when: DELETE_CONFIG,
        ...errorResponse(50001, 'Failed to delete compatibility level'),
      },
    ],
    [
      '50001 update mode',
      { faults: fails('fenced'), when: UPDATE_MODE, ...errorResponse(50001, 'Failed to update mode') },
    ],
    [
      '50002 update mode',
      { faults: fails('timeout'), when: UPDATE_MODE, ...errorResponse(50002, 'Update mode operation timed out') },
    ],
    [
      '50001 delete mode',
      { faults: fails('fenced'), when: DELETE_MODE, ...errorResponse(50001, 'Failed to delete mode') },
    ],
    [
      '50003 register',
      {
        faults: UNREACHABLE,
        when: REGISTER,
        ...errorResponse(50003, 'Error while forwarding register schema request to the leader'),
      },
    ],
    [
      '50003 update config',
      {
        faults: UNREACHABLE,
        when: UPDATE_CONFIG,
        ...errorResponse(50003, 'Error while forwarding update config request to the leader'),
      },
    ],
    [
      '50003 delete config',
      {
        faults: UNREACHABLE,
        when: DELETE_CONFIG,
        ...errorResponse(50003, 'Error while forwarding delete config request to the leader'),
      },
    ],
    [
      '50003 update mode',
      {
        faults: UNREACHABLE,
        when: UPDATE_MODE,
        ...errorResponse(50003, 'Error while forwarding update mode request to the leader'),
      },
    ],
    [
      '50003 delete mode',
      {
        faults: UNREACHABLE,
        when: DELETE_MODE,
        ...errorResponse(50003, 'Error while forwarding delete mode request to the leader'),
      },
    ],
    [
      '50003 delete subject',
      {
        faults: UNREACHABLE,
        when: ['DELETE /subjects/s'],
        ...errorResponse(50003, 'Error while forwarding delete subject request to the leader'),
      },
    ],
    [
      '50003 delete version',
      {
        faults: UNREACHABLE,
        when: ['DELETE /subjects/s/versions/1'],
        ...errorResponse(50003, 'Error while forwarding delete schema version request to the leader'),
      },
    ],
    ['50004 register', { faults: NOBODY, when: REGISTER, ...errorResponse(50004, 'Leader not known.', 503) }],
    [
      '50004 update config',
      { faults: NOBODY, when: UPDATE_CONFIG, ...errorResponse(50004, 'Failed to update compatibility level', 503) },
    ],
    [
      '50004 delete config',
      { faults: NOBODY, when: DELETE_CONFIG, ...errorResponse(50004, 'Failed to delete compatibility level', 503) },
    ],
    ['50004 update mode', { faults: NOBODY, when: UPDATE_MODE, ...errorResponse(50004, 'Failed to update mode', 503) }],
    ['50004 delete mode', { faults: NOBODY, when: DELETE_MODE, ...errorResponse(50004, 'Failed to delete mode', 503) }],
    [
      '50004 delete subject',
      { faults: NOBODY, when: ['DELETE /subjects/s'], ...errorResponse(50004, 'Leader not known.', 503) },
    ],
    [
      '50004 delete version',
      { faults: NOBODY, when: ['DELETE /subjects/s/versions/1'], ...errorResponse(50004, 'Leader not known.', 503) },
    ],
    [
      '50004 delete context',
      { faults: NOBODY, when: DELETE_CONTEXT, ...errorResponse(50004, 'Leader not known.', 503) },
    ],
    ['reads go on without a leader', { faults: NOBODY, when: ['GET /subjects'], answer: [] }],
  ])('%s', (_, row) => expectRow(row))

  it('is passed on once at most', async () => {
    const registry = await startTestRegistry({}, UNREACHABLE)
    const looped = await fetch(`${registry.url}/subjects/s/versions`, {
      method: 'POST',
      body: '{"schema":"\\"int\\""}',
      headers: { 'content-type': 'application/json', 'x-forward': 'true' },
    })
    expect([looped.status, await looped.json()]).toEqual([503, { error_code: 50004, message: 'Leader not known.' }])
    await registry.stop()
  })
})
