import { describe, expect, it } from 'vitest'
import { toMysqlError } from '../../../../src/plugins/connectors/mysql/mysql-error.ts'

const reported = (errno: number) => ({
  errno,
  code: 'ER_X',
  sqlState: 'HY000',
  sqlMessage: 'said',
  sql: 'SELECT secret',
})

describe('toMysqlError', () => {
  it.each([
    // A deadlock, a lock that is held, servers that are read-only, full or stop, and interrupted statements.
    ...[1213, 1205, 1290, 1836, 1792, 1040, 1053, 1317, 1969, 3024].map((errno) => [errno, true, false] as const),
    // A duplicate, null, values that do not fit, foreign keys, checks of MySQL and MariaDB, a trigger, and a packet.
    ...[1062, 1048, 1264, 1406, 1366, 1292, 1452, 3819, 4025, 1644, 1153].map((errno) => [errno, false, true] as const),
    // A login, privileges, tables, columns and syntax.
    ...[1045, 1142, 1227, 1146, 1054, 1064, 1170].map((errno) => [errno, false, false] as const),
  ])('classifies %i: transient %s, about data %s', (errno, isTransient, isAboutData) => {
    const error = toMysqlError(reported(errno), 'write')
    expect(error).toMatchObject({ isTransient, isAboutData, errno })
    expect(error.cause).toBeUndefined()
    expect(error.message).toMatch(`could not write: said [${errno} HY000]`)
  })

  it('treats errors of the network and closed connections as transient', () => {
    const ofCode = (code: string) => toMysqlError(Object.assign(new Error('it failed'), { code }), 'read')
    expect(ofCode('ECONNREFUSED')).toMatchObject({
      isTransient: true,
      message: 'could not read: it failed; start the server, or correct the host and port in connection.url',
    })
    expect(ofCode('PROTOCOL_CONNECTION_LOST').isTransient).toBe(true)
    expect(ofCode('HANDSHAKE_NO_SSL_SUPPORT').isTransient).toBe(false)
    expect(toMysqlError(new Error('the connection was closed'), 'read').isTransient).toBe(true)
    expect(toMysqlError(new Error('another'), 'read').isTransient).toBe(false)
  })
})
