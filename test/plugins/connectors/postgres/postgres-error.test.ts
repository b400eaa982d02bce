import { describe, expect, it } from 'vitest'
import { combineDatabaseErrors, DatabaseError } from '../../../../src/plugins/connectors/jdbc/database-error.ts'
import { toPostgresError } from '../../../../src/plugins/connectors/postgres/postgres-error.ts'

const failure = (code: string | undefined, message = 'said') =>
  toPostgresError(Object.assign(new Error(message), { code }), 'do it')

describe('DatabaseError', () => {
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
  ])('is transient for the code %s: %s', (code, isTransient) => {
    expect(failure(code).isTransient).toBe(isTransient)
  })

  it.each([
    'Connection terminated unexpectedly',
    'timeout expired',
    'Client has encountered a connection error and is not queryable',
  ])('is transient for «%s» without a code', (message) =>
    expect(failure(undefined, message)).toMatchObject({ isTransient: true, sqlState: undefined }),
  )

  it('contains the message of PostgreSQL, the location and the remedy', () => {
    const said = { code: '23502', message: 'null value', detail: 'Failing row', column: 'word', table: 'words' }
    expect(toPostgresError(said, 'write').message).toBe(
      'could not write: null value: Failing row (column word of words) [23502]',
    )
    expect(failure('42501', 'permission denied').message).toBe(
      'could not do it: permission denied [42501]; grant the privilege to the role of connection.user',
    )
  })

  it('combines the errors of all hosts, and is transient if one of them is', () => {
    const [permanent, isTransient] = [failure('28P01'), failure('ECONNREFUSED')]
    expect(combineDatabaseErrors([permanent])).toBe(permanent)
    const both = combineDatabaseErrors([permanent, isTransient])
    expect(both).toBeInstanceOf(DatabaseError)
    expect(both).toMatchObject({ isTransient: true, message: `${permanent.message}; ${isTransient.message}` })
    expect(combineDatabaseErrors([permanent, permanent]).isTransient).toBe(false)
  })
})
