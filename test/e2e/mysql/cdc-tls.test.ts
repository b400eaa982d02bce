import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { BinlogStream } from '../../../src/plugins/connectors/mysql/cdc/binlog/binlog-stream.ts'
import { mysqlUrlOf } from '../../../src/plugins/connectors/mysql/cdc/config/mysql-database-keys.ts'
import { UNRESTRICTED } from '../../../src/sdk/index.ts'
import { type MariadbAddress, startMariadb } from '../../env/mariadb.ts'
import { describeOn, real } from '../../env/real.ts'
import { startMysqlCdc, takeRows } from '../../support/mysql-cdc.ts'
import { createMysqlDatabase } from '../../support/mysql-database.ts'

const mariadb = await real('mariadb')

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const pem = (name: string) => join(import.meta.dirname, `../../support/tls/${name}.pem`)

/** The connection of the changes alone, verified against these certificates. */
function openStream({ port, user, password }: MariadbAddress, truststore: string): Promise<BinlogStream> {
  const url = mysqlUrlOf({
    'database.hostname': '127.0.0.1',
    'database.port': port,
    'database.ssl.mode': 'verify_identity',
    'database.ssl.truststore': truststore,
    'driver.allowPublicKeyRetrieval': false,
    'connect.timeout.ms': 30_000,
  })
  const { signal } = new AbortController()
  return BinlogStream.open({
    session: { url, user, password, applicationName: 'test', log: SILENT, access: UNRESTRICTED, signal },
    ...{ isMariadb: true, serverId: 77, hasChecksum: true, includesStatements: false, heartbeatMs: 60_000 },
    start: { kind: 'position', file: 'binlog.000001', position: 4 },
  })
}

describeOn([mariadb], 'MariadbCdcSource', () => {
  it('reads rows and changes over TLS with the configured certificates, logs in with ed25519, and refuses a server that is not verified', async () => {
    const server = await startMariadb(`tls-${randomUUID()}`, [
      ...['--server-id=1', `--ssl-cert=${pem('server')}`, `--ssl-key=${pem('server')}`, `--ssl-ca=${pem('ca')}`],
    ])
    onTestFinished(() => server.stop())
    const database = await createMysqlDatabase(server.address)
    await database.run(
      'CREATE TABLE t (id INT PRIMARY KEY)',
      'INSERT INTO t VALUES (1)',
      "CREATE USER secured IDENTIFIED BY 'x' REQUIRE X509",
      'GRANT ALL ON *.* TO secured',
    )
    const login = { 'database.user': 'secured', 'database.password': 'x' }
    const config = {
      ...login,
      'database.ssl.mode': 'verify_identity',
      'database.ssl.truststore': pem('ca'),
      'database.ssl.keystore': pem('client'),
    }
    const run = startMysqlCdc(server.address, database, { config })
    await takeRows(run, 1)
    await run.nextBatch()
    await database.run('INSERT INTO t VALUES (2)')
    const [record] = await takeRows(run, 1)
    expect(record!.value).toMatchObject({ op: 'c', after: { id: 2 } })
    const rejected = (changed: Readonly<Record<string, string>>) =>
      expect(startMysqlCdc(server.address, database, { config: changed }).take(1)).rejects
    await rejected({ ...config, 'database.ssl.truststore': pem('server-rsa') }).toThrow('certificate')
    await rejected({ ...login, 'database.ssl.mode': 'required' }).toThrow('Access denied')
    await rejected({ ...login, 'database.ssl.mode': 'disabled' }).toThrow('Access denied')
    await expect(openStream(server.address, pem('server-rsa'))).rejects.toThrow('certificate')
    await database.run("INSTALL SONAME 'auth_ed25519'", "CREATE USER ed IDENTIFIED VIA ed25519 USING PASSWORD('y')")
    await database.run('GRANT ALL ON *.* TO ed')
    const stream = await openStream({ ...server.address, user: 'ed', password: 'y' }, pem('ca'))
    await stream[Symbol.asyncDispose]()
  })
})
