import { describe, expect, it } from 'vitest'
import { BrokerError, type BrokerErrorCode } from '../../../src/broker/error.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { type Request, type Row, refusal, rowPlayer } from '../../support/registry-rows.ts'

const expectRow = rowPlayer()

// One row for each write and each thing that can keep it from being stored, with the contract's words for it.

const REGISTER: Request = ['POST /subjects/s/versions', { schema: '"int"' }]
const UPDATE_CONFIG: Request = ['PUT /config', { compatibility: 'NONE' }]
const DELETE_CONFIG: Request = ['DELETE /config']
const UPDATE_MODE: Request = ['PUT /mode', { mode: 'READONLY' }]
const DELETE_MODE: Request = ['DELETE /mode']
const DELETE_CONTEXT: Request = ['DELETE /contexts/c']
const fails = (code: BrokerErrorCode) => ({ store: new BrokerError(code, 'on purpose') })
const NOBODY = { leaderUrl: undefined }
const UNREACHABLE = { leaderUrl: 'http://127.0.0.1:1' }

describe('a write that is not stored', () => {
  it.each<readonly [string, Row]>([
    [
      '50001 register',
      {
        trouble: fails('unavailable'),
        when: REGISTER,
        ...refusal(50001, 'Register schema operation failed while writing to the Kafka store'),
      },
    ],
    [
      '50002 register',
      { trouble: fails('timeout'), when: REGISTER, ...refusal(50002, 'Register operation timed out') },
    ],
    [
      '42209 register',
      {
        trouble: fails('record_too_large'),
        when: REGISTER,
        ...refusal(42209, 'Register operation failed because schema is too large'),
      },
    ],
    [
      '50001 update config',
      {
        trouble: fails('fenced'),
        when: UPDATE_CONFIG,
        ...refusal(50001, 'Failed to update compatibility level'),
      },
    ],
    [
      '50001 delete config',
      { trouble: fails('fenced'), when: DELETE_CONFIG, ...refusal(50001, 'Failed to delete compatibility level') },
    ],
    ['50001 update mode', { trouble: fails('fenced'), when: UPDATE_MODE, ...refusal(50001, 'Failed to update mode') }],
    [
      '50002 update mode',
      { trouble: fails('timeout'), when: UPDATE_MODE, ...refusal(50002, 'Update mode operation timed out') },
    ],
    ['50001 delete mode', { trouble: fails('fenced'), when: DELETE_MODE, ...refusal(50001, 'Failed to delete mode') }],
    [
      '50003 register',
      {
        trouble: UNREACHABLE,
        when: REGISTER,
        ...refusal(50003, 'Error while forwarding register schema request to the leader'),
      },
    ],
    [
      '50003 update config',
      {
        trouble: UNREACHABLE,
        when: UPDATE_CONFIG,
        ...refusal(50003, 'Error while forwarding update config request to the leader'),
      },
    ],
    [
      '50003 delete config',
      {
        trouble: UNREACHABLE,
        when: DELETE_CONFIG,
        ...refusal(50003, 'Error while forwarding delete config request to the leader'),
      },
    ],
    [
      '50003 update mode',
      {
        trouble: UNREACHABLE,
        when: UPDATE_MODE,
        ...refusal(50003, 'Error while forwarding update mode request to the leader'),
      },
    ],
    [
      '50003 delete mode',
      {
        trouble: UNREACHABLE,
        when: DELETE_MODE,
        ...refusal(50003, 'Error while forwarding delete mode request to the leader'),
      },
    ],
    [
      '50003 delete subject',
      {
        trouble: UNREACHABLE,
        when: ['DELETE /subjects/s'],
        ...refusal(50003, 'Error while forwarding delete subject request to the leader'),
      },
    ],
    [
      '50003 delete version',
      {
        trouble: UNREACHABLE,
        when: ['DELETE /subjects/s/versions/1'],
        ...refusal(50003, 'Error while forwarding delete schema version request to the leader'),
      },
    ],
    ['50004 register', { trouble: NOBODY, when: REGISTER, ...refusal(50004, 'Leader not known.', 503) }],
    [
      '50004 update config',
      { trouble: NOBODY, when: UPDATE_CONFIG, ...refusal(50004, 'Failed to update compatibility level', 503) },
    ],
    [
      '50004 delete config',
      { trouble: NOBODY, when: DELETE_CONFIG, ...refusal(50004, 'Failed to delete compatibility level', 503) },
    ],
    ['50004 update mode', { trouble: NOBODY, when: UPDATE_MODE, ...refusal(50004, 'Failed to update mode', 503) }],
    ['50004 delete mode', { trouble: NOBODY, when: DELETE_MODE, ...refusal(50004, 'Failed to delete mode', 503) }],
    [
      '50004 delete subject',
      { trouble: NOBODY, when: ['DELETE /subjects/s'], ...refusal(50004, 'Leader not known.', 503) },
    ],
    [
      '50004 delete version',
      { trouble: NOBODY, when: ['DELETE /subjects/s/versions/1'], ...refusal(50004, 'Leader not known.', 503) },
    ],
    ['50004 delete context', { trouble: NOBODY, when: DELETE_CONTEXT, ...refusal(50004, 'Leader not known.', 503) }],
    ['reads go on without a leader', { trouble: NOBODY, when: ['GET /subjects'], answer: [] }],
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
