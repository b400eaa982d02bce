import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Position } from '../../../src/sdk/index.ts'
import { type Mariadb, startMariadb } from '../../env/mariadb.ts'
import { describeOn, real } from '../../env/real.ts'
import { HISTORY, rowsOf, startMysqlCdc, takeRows } from '../../support/mysql-cdc.ts'
import { createMysqlDatabase } from '../../support/mysql-database.ts'

const mariadb = await real('mariadb')

const WAIT_S = 20
/** Two servers are installed, which takes long on a machine that is busy with other tests. */
const START_MS = 300_000

describeOn([mariadb], 'MariadbCdcSource, when another server takes over', () => {
  let primary: Mariadb
  let replica: Mariadb
  beforeAll(async () => {
    const servers = [
      startMariadb(`primary-${randomUUID()}`, ['--server-id=1']),
      // Its files have the names of those of the primary, but other positions.
      startMariadb(`replica-${randomUUID()}`, ['--server-id=2', '--log-slave-updates', '--binlog-checksum=NONE']),
    ] as const
    ;[primary, replica] = await Promise.all(servers)
  }, START_MS)
  afterAll(async () => {
    await replica?.stop()
    await primary?.stop()
  })

  it('continues there by its GTIDs: no change is missing, and only those of a transaction read in part are repeated', async () => {
    const database = await createMysqlDatabase(primary.address)
    const other = await createMysqlDatabase(replica.address)
    const { port, user, password } = primary.address
    const [[position] = []] = await database.run('SELECT @@gtid_binlog_pos')
    await other.run(
      // It has the accounts and the database of the primary already, and no changes of its own.
      `CREATE DATABASE ${database.name} CHARACTER SET utf8mb4`,
      'RESET MASTER',
      `SET GLOBAL gtid_slave_pos = '${position}'`,
      `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${port}, MASTER_USER = '${user}', MASTER_PASSWORD = '${password}', MASTER_USE_GTID = slave_pos`,
      'START SLAVE',
    )
    await database.run('CREATE TABLE t (id INT PRIMARY KEY)', 'INSERT INTO t VALUES (1)')
    const first = startMysqlCdc(primary.address, database)
    await takeRows(first, 1)
    await first.nextBatch()
    await database.run(
      'INSERT INTO t VALUES (2)',
      'INSERT INTO t VALUES (3), (4)',
      'ALTER TABLE t ADD COLUMN n INT FIRST',
      'INSERT INTO t (id) VALUES (5)',
    )
    const records = rowsOf(await takeRows(first, 4))
    const [[gtid] = []] = await database.run('SELECT @@gtid_binlog_pos')
    await first.stop()
    const history = first.reported(HISTORY)
    const [[reached] = []] = await other.run(`SELECT MASTER_GTID_WAIT('${gtid}', ${WAIT_S})`)
    expect(reached).toBe('0')
    await other.run('STOP SLAVE', `INSERT INTO ${database.name}.t (id) VALUES (6)`)
    const idsAfter = async (offset: Position, count: number) => {
      const next = startMysqlCdc(replica.address, database, { offset, history })
      const rows = await takeRows(next, count)
      await next.stop()
      return rows.map(({ value }) => (value as { readonly after: { readonly id: number } }).after.id)
    }
    const [, within] = records
    expect(await idsAfter(within!.sourceOffset, 4)).toEqual([3, 4, 5, 6])
    // As the offset is stored at the end of a transaction.
    expect(await idsAfter({ file: 'binlog.000001', pos: 4, gtids: gtid! }, 1)).toEqual([6])
    // The server keeps a file while it sends it to a reader, whose end it does not notice at once.
    await expect
      .poll(() => other.run('FLUSH BINARY LOGS', "PURGE BINARY LOGS TO 'binlog.000002'", 'SHOW BINARY LOGS'))
      .not.toContainEqual(expect.arrayContaining(['binlog.000001']))
    const lost = startMysqlCdc(replica.address, database, { offset: within!.sourceOffset, history })
    await expect(lost.take(1)).rejects.toThrow('has no binary log at the stored position')
  })
})
