import { describe, expect, it } from 'vitest'
import { BrokerError, type BrokerErrorCode } from '../../../src/broker/broker-error.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { createCaseRunner, errorResponse, type RegistryCase, type Request } from '../../support/registry-cases.ts'

const expectRow = createCaseRunner()

// One row for each kind of write and failure, with the error message of the contract.

const REGISTER: Request = ['POST /subjects/s/versions', { schema: '"int"' }]
const UPDATE_CONFIG: Request = ['PUT /config', { compatibility: 'NONE' }]
const DELETE_CONFIG: Request = ['DELETE /config']
const UPDATE_MODE: Request = ['PUT /mode', { mode: 'READONLY' }]
const DELETE_MODE: Request = ['DELETE /mode']
const DELETE_CONTEXT: Request = ['DELETE /contexts/c']
const failedWrite = (code: BrokerErrorCode) => ({ writeError: new BrokerError(code, 'on purpose') })
const NO_LEADER = { leaderUrl: undefined }
const LEADER_UNREACHABLE = { leaderUrl: 'http://127.0.0.1:1' }

describe('a write that cannot be stored', () => {
  it.each<readonly [string, RegistryCase]>([
    [
      'registering returns 50001 if the write to the topic fails',
      {
        faults: failedWrite('unavailable'),
        when: REGISTER,
        ...errorResponse(50001, 'Register schema operation failed while writing to the Kafka store'),
      },
    ],
    [
      'registering returns 50002 if the write to the topic times out',
      { faults: failedWrite('timeout'), when: REGISTER, ...errorResponse(50002, 'Register operation timed out') },
    ],
    [
      'registering returns 42209 if the record is too large',
      {
        faults: failedWrite('record_too_large'),
        when: REGISTER,
        ...errorResponse(42209, 'Register operation failed because schema is too large'),
      },
    ],
    [
      'updating the config returns 50001 if the write to the topic fails',
      {
        faults: failedWrite('fenced'),
        when: UPDATE_CONFIG,
        ...errorResponse(50001, 'Failed to update compatibility level'),
      },
    ],
    [
      'deleting the config returns 50001 if the write to the topic fails',
      {
        faults: failedWrite('fenced'),
        when: DELETE_CONFIG,
        ...errorResponse(50001, 'Failed to delete compatibility level'),
      },
    ],
    [
      'updating the mode returns 50001 if the write to the topic fails',
      { faults: failedWrite('fenced'), when: UPDATE_MODE, ...errorResponse(50001, 'Failed to update mode') },
    ],
    [
      'updating the mode returns 50002 if the write to the topic times out',
      { faults: failedWrite('timeout'), when: UPDATE_MODE, ...errorResponse(50002, 'Update mode operation timed out') },
    ],
    [
      'deleting the mode returns 50001 if the write to the topic fails',
      { faults: failedWrite('fenced'), when: DELETE_MODE, ...errorResponse(50001, 'Failed to delete mode') },
    ],
    [
      'registering returns 50003 if the leader cannot be reached',
      {
        faults: LEADER_UNREACHABLE,
        when: REGISTER,
        ...errorResponse(50003, 'Error while forwarding register schema request to the leader'),
      },
    ],
    [
      'updating the config returns 50003 if the leader cannot be reached',
      {
        faults: LEADER_UNREACHABLE,
        when: UPDATE_CONFIG,
        ...errorResponse(50003, 'Error while forwarding update config request to the leader'),
      },
    ],
    [
      'deleting the config returns 50003 if the leader cannot be reached',
      {
        faults: LEADER_UNREACHABLE,
        when: DELETE_CONFIG,
        ...errorResponse(50003, 'Error while forwarding delete config request to the leader'),
      },
    ],
    [
      'updating the mode returns 50003 if the leader cannot be reached',
      {
        faults: LEADER_UNREACHABLE,
        when: UPDATE_MODE,
        ...errorResponse(50003, 'Error while forwarding update mode request to the leader'),
      },
    ],
    [
      'deleting the mode returns 50003 if the leader cannot be reached',
      {
        faults: LEADER_UNREACHABLE,
        when: DELETE_MODE,
        ...errorResponse(50003, 'Error while forwarding delete mode request to the leader'),
      },
    ],
    [
      'deleting a subject returns 50003 if the leader cannot be reached',
      {
        faults: LEADER_UNREACHABLE,
        when: ['DELETE /subjects/s'],
        ...errorResponse(50003, 'Error while forwarding delete subject request to the leader'),
      },
    ],
    [
      'deleting a version returns 50003 if the leader cannot be reached',
      {
        faults: LEADER_UNREACHABLE,
        when: ['DELETE /subjects/s/versions/1'],
        ...errorResponse(50003, 'Error while forwarding delete schema version request to the leader'),
      },
    ],
    [
      'registering returns 50004 if there is no leader',
      { faults: NO_LEADER, when: REGISTER, ...errorResponse(50004, 'Leader not known.', 503) },
    ],
    [
      'updating the config returns 50004 if there is no leader',
      { faults: NO_LEADER, when: UPDATE_CONFIG, ...errorResponse(50004, 'Failed to update compatibility level', 503) },
    ],
    [
      'deleting the config returns 50004 if there is no leader',
      { faults: NO_LEADER, when: DELETE_CONFIG, ...errorResponse(50004, 'Failed to delete compatibility level', 503) },
    ],
    [
      'updating the mode returns 50004 if there is no leader',
      { faults: NO_LEADER, when: UPDATE_MODE, ...errorResponse(50004, 'Failed to update mode', 503) },
    ],
    [
      'deleting the mode returns 50004 if there is no leader',
      { faults: NO_LEADER, when: DELETE_MODE, ...errorResponse(50004, 'Failed to delete mode', 503) },
    ],
    [
      'deleting a subject returns 50004 if there is no leader',
      { faults: NO_LEADER, when: ['DELETE /subjects/s'], ...errorResponse(50004, 'Leader not known.', 503) },
    ],
    [
      'deleting a version returns 50004 if there is no leader',
      { faults: NO_LEADER, when: ['DELETE /subjects/s/versions/1'], ...errorResponse(50004, 'Leader not known.', 503) },
    ],
    [
      'deleting a context returns 50004 if there is no leader',
      { faults: NO_LEADER, when: DELETE_CONTEXT, ...errorResponse(50004, 'Leader not known.', 503) },
    ],
    ['reading succeeds if there is no leader', { faults: NO_LEADER, when: ['GET /subjects'], answer: [] }],
  ])('%s', { tags: ['slow'] }, (_, row) => expectRow(row))

  it('is not forwarded a second time by an instance that is not the leader', async () => {
    const registry = await startTestRegistry({}, LEADER_UNREACHABLE)
    const looped = await fetch(`${registry.url}/subjects/s/versions`, {
      method: 'POST',
      body: '{"schema":"\\"int\\""}',
      headers: { 'content-type': 'application/json', 'x-forward': 'true' },
    })
    expect([looped.status, await looped.json()]).toEqual([503, { error_code: 50004, message: 'Leader not known.' }])
    await registry.stop()
  })
})
