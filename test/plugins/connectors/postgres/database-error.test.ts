import { describe, expect, it } from 'vitest'
import {
  DatabaseError,
  toDatabaseError,
  toDatabaseErrorOfAll,
} from '../../../../src/plugins/connectors/postgres/database-error.ts'

const failure = (code: string | undefined, message = 'said') =>
  toDatabaseError(Object.assign(new Error(message), { code }), 'do it')

describe('a failure of the database', () => {
  it.each([
    // A code of the network that looks like one of PostgreSQL's.
    ['EPIPE', true],
    ['ECONNRESET', true],
    ['EAI_AGAIN', true],
    ['08006', true],
    ['40P01', true],
    ['53300', true],
    ['57P03', true],
    ['25006', true],
    ['28P01', false],
    ['42501', false],
    ['42P01', false],
    ['22001', false],
    ['SELF_SIGNED_CERT_IN_CHAIN', false],
  ])('of code %s may heal: %s', (code, heals) => {
    expect(failure(code).heals).toBe(heals)
  })

  it.each([
    'Connection terminated unexpectedly',
    'timeout expired',
    'Client has encountered a connection error and is not queryable',
  ])('that says «%s» without a code may heal', (message) =>
    expect(failure(undefined, message)).toMatchObject({ heals: true, sqlState: undefined }),
  )

  it('says what PostgreSQL said, where, and what to do', () => {
    const said = { code: '23502', message: 'null value', detail: 'Failing row', column: 'word', table: 'words' }
    expect(toDatabaseError(said, 'write').message).toBe(
      'could not write: null value: Failing row (column word of words) [23502]',
    )
    expect(failure('42501', 'permission denied').message).toBe(
      'could not do it: permission denied [42501]; grant it to the role of connection.user',
    )
  })

  it('of several hosts tells of each, and may heal where one of them may', () => {
    const [forever, heals] = [failure('28P01'), failure('ECONNREFUSED')]
    expect(toDatabaseErrorOfAll([forever])).toBe(forever)
    const both = toDatabaseErrorOfAll([forever, heals])
    expect(both).toBeInstanceOf(DatabaseError)
    expect(both).toMatchObject({ heals: true, message: `${forever.message}; ${heals.message}` })
    expect(toDatabaseErrorOfAll([forever, forever]).heals).toBe(false)
  })
})
