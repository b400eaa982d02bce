import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { parseMysqlUrl } from '../../../src/plugins/connectors/mysql/connection-url.ts'
import { MysqlSession } from '../../../src/plugins/connectors/mysql/session.ts'
import { UNRESTRICTED } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { createMysqlDatabase } from '../../support/mysql-database.ts'

const mariadb = await real('mariadb')

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

describeOn([mariadb], 'MysqlSession', () => {
  it('returns each value as the server prints it, and each byte of binary data as a character', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      `CREATE TABLE t (a bigint unsigned, b decimal(65, 30), c datetime(6), d time(2), e bit(9), f blob, g json,
        h varchar(9) CHARACTER SET latin1, i text, j uuid)`,
      `INSERT INTO t VALUES (18446744073709551615, -0.000000000000000000000000000001, '2020-01-01 00:00:00.000001',
        '-838:59:59.99', 257, x'00ff80', '{"é": 1}', 'é', '😀', '123e4567-e89b-12d3-a456-426614174000')`,
    )
    const texts = [
      ...['18446744073709551615', '-0.000000000000000000000000000001', '2020-01-01 00:00:00.000001', '-838:59:59.99'],
      ...['\x01\x01', '\x00ÿ\x80', '{"é": 1}', 'é', '😀', '123e4567-e89b-12d3-a456-426614174000'],
    ]
    expect(await database.run('SELECT * FROM t')).toEqual([texts])
    const session = await database.session()
    const fields = await session.describe('describe', 'SELECT * FROM t LIMIT 0')
    expect(fields.map(({ extendedType, format }) => extendedType ?? format)).toEqual([
      ...Array(6).fill(undefined),
      ...['json', undefined, undefined, 'uuid'],
    ])
    const batches = session.openRows('read', 'SELECT * FROM t', 10)
    expect((await Array.fromAsync(batches)).map(({ rows }) => rows)).toEqual([[texts]])
  })

  it('reads no more rows than fit its buffer while the reader works, and all of them in the end', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const session = await database.session()
    let count = 0
    let last: string | null = null
    for await (const { rows } of session.openRows('read', "SELECT seq, repeat('x', 20000) FROM seq_1_to_2000", 250)) {
      count += rows.length
      last = rows.at(-1)![0]!
      // A batch holds a megabyte, which is reached before 250 rows.
      expect(rows.length).toBeLessThanOrEqual(60)
    }
    expect([count, last]).toEqual([2000, '2000'])
    expect(await session.query('count', 'SELECT 1')).toEqual([['1']])
  })

  it('reports an error with its number and a remedy, without the statement', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const session = await database.session()
    await session.execute('create', 'CREATE TABLE t (id tinyint PRIMARY KEY)')
    const failure = await session.execute('write', 'INSERT INTO t VALUES (1234567)').catch((error: unknown) => error)
    expect(failure).toMatchObject({
      message: "could not write: Out of range value for column 'id' at row 1 [1264 22003]",
      ...{ isTransient: false, isAboutData: true, errno: 1264, sqlState: '22003' },
    })
    expect((failure as Error).cause).toBeUndefined()
    await expect(Array.fromAsync(session.openRows('read', 'SELECT * FROM missing', 10))).rejects.toThrow(
      /^could not read: Table .* doesn't exist \[1146 42S02\]; create the table, or correct its name$/,
    )
    await expect(database.session('sslMode=trust')).rejects.toThrow(
      'Server does not support secure connection; enable ssl on the server, or set another sslMode in connection.url',
    )
  })

  it('logs in with MariaDB’s ed25519, and does not repeat a wrong password', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      "INSTALL SONAME 'auth_ed25519'",
      `CREATE USER ${database.name.slice(0, 20)} IDENTIFIED VIA ed25519 USING PASSWORD('a sécret')`,
    )
    onTestFinished(async () => {
      await database.run(`DROP USER ${database.name.slice(0, 20)}`, "UNINSTALL SONAME 'auth_ed25519'")
    })
    const user = database.name.slice(0, 20)
    await database.run(`GRANT ALL ON ${database.name}.* TO ${user}`)
    const session = await database.session('', { user, password: 'a sécret' })
    expect(await session.query('read', 'SELECT current_user()')).toEqual([[`${user}@%`]])
    await session.close()
    const failure = await database.session('', { user, password: 'wrong word' }).catch((error: unknown) => error)
    expect(String(failure)).toContain('Access denied')
    expect(String(failure)).not.toContain('wrong word')
  })

  it('fails its queries as transient when the connection is lost or closed', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const [session, other] = [await database.session(), await database.session()]
    const [[id]] = (await session.query('read the id', 'SELECT connection_id()')) as [[string]]
    const reading = Array.fromAsync(session.openRows('read', 'SELECT seq, sleep(0.01) FROM seq_1_to_100000', 10))
    await other.execute('end the other session', `KILL ${id}`)
    await expect(reading).rejects.toMatchObject({ isTransient: true })
    await expect.poll(() => session.isOpen).toBe(false)
    await expect(session.query('read', 'SELECT 1')).rejects.toMatchObject({ isTransient: true })

    const running = other.query('wait', 'SELECT sleep(100)')
    await other.close()
    await expect(running).rejects.toThrow('could not wait: the connection was closed')
  })

  it('ends when its server does not answer, and when its signal is aborted while it is opened', async () => {
    const sockets: Socket[] = []
    const server = createServer((socket) => void sockets.push(socket))
    onTestFinished(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { readonly port: number }
    const open = (options: string, signal: AbortSignal) =>
      MysqlSession.open(
        {
          url: parseMysqlUrl(`jdbc:mysql://127.0.0.1:${port}/db?${options}`),
          ...{ user: 'a', password: 'a secret', applicationName: 'test', log: SILENT, access: UNRESTRICTED, signal },
        },
        { attempts: 1, backoffMs: 0 },
      )
    await expect(open('connectTimeout=20', new AbortController().signal)).rejects.toMatchObject({
      message: expect.stringContaining('ETIMEDOUT'),
      isTransient: true,
    })
    const stopping = new AbortController()
    const accepted = once(server, 'connection')
    const opened = open('', stopping.signal)
    opened.catch(() => undefined)
    await accepted
    stopping.abort()
    await expect(opened).rejects.toThrow('the connection was closed while it was being established')
  })
})
