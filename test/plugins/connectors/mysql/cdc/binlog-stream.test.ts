import { deflateSync, zstdCompressSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import {
  type BinlogStart,
  BinlogStream,
  type PlacedEvent,
} from '../../../../../src/plugins/connectors/mysql/cdc/binlog/binlog-stream.ts'
import { EVENT } from '../../../../../src/plugins/connectors/mysql/cdc/binlog/event-type.ts'
import { mysqlUrlOf } from '../../../../../src/plugins/connectors/mysql/cdc/config/mysql-database-keys.ts'
import { UNRESTRICTED } from '../../../../../src/sdk/index.ts'
import {
  binlogEvent,
  bytesOf,
  mysqlGreeting,
  startMysqlAt,
  startScriptedMysql,
} from '../../../../support/scripted-mysql.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const START: BinlogStart = { kind: 'position', file: 'binlog.000001', position: 4 }

type Settings = { readonly sslMode?: 'disable' | 'require'; readonly start?: BinlogStart; readonly isMariadb?: boolean }

async function open(port: number, { sslMode = 'disable', start = START, isMariadb = false }: Settings = {}) {
  const controller = new AbortController()
  const url = mysqlUrlOf({
    'database.hostname': '127.0.0.1',
    'database.port': port,
    'database.ssl.mode': sslMode === 'disable' ? 'disable' : 'required',
    'driver.allowPublicKeyRetrieval': false,
    'connect.timeout.ms': 20_000,
  })
  const session = {
    url,
    user: 'me',
    password: 'x',
    applicationName: 'test',
    log,
    access: UNRESTRICTED,
    signal: controller.signal,
  }
  const options = { hasChecksum: true, includesStatements: false, heartbeatMs: 60_000, serverId: 5, isMariadb, start }
  const stream = await BinlogStream.open({ ...options, session })
  onTestFinished(() => stream[Symbol.asyncDispose]())
  return stream
}

/** Reads so many events after the first two of the file. */
async function readEvents(port: number, count: number): Promise<readonly PlacedEvent[]> {
  const found: PlacedEvent[] = []
  for await (const events of (await open(port)).read()) {
    found.push(...events)
    if (found.length >= count + 2) break
  }
  return found.slice(2)
}

const QUERY = bytesOf('01000000 00000000 00 0000 0000 00', Buffer.from('BEGIN'))
// The table d.t with a column INT.
const TABLE = bytesOf('0500000000000100', 1, Buffer.from('d\0'), 1, Buffer.from('t\0'), 1, 3, 0, 1)
const ROWS = bytesOf('0500000000000100', '0200', 1, 'ff', 0, '2a000000')
const XID = bytesOf('0700000000000000')

const inner = (type: number, body: Buffer) => binlogEvent(type, body, { position: 0, hasChecksum: false })
const TRANSACTION = Buffer.concat([
  inner(EVENT.query, QUERY),
  inner(EVENT.tableMap, TABLE),
  inner(EVENT.writeRowsV2, ROWS),
  inner(EVENT.xid, XID),
])

// Numbers of the algorithms, with their length.
const ZSTD = '01 00'
const NONE = '03 fcff00'

/** Fields (the length of the data, the algorithm, the length without compression) and the data. */
function payload(data: Buffer, compression: string): Buffer {
  return binlogEvent(EVENT.transactionPayload, bytesOf('01 01', 0, '02', compression, '03 01', 0, 0, data), {
    position: 500,
  })
}

it.each([
  ['zstd', payload(zstdCompressSync(TRANSACTION), ZSTD)],
  ['no algorithm', payload(TRANSACTION, NONE)],
])('a transaction that the server has compressed with %s is read event by event, at one position', async (_, event) => {
  const found = await readEvents(await startScriptedMysql([event]), 4)
  expect(found.map(({ data }) => data.kind)).toEqual(['query', 'table map', 'rows', 'commit'])
  expect(found[2]!.data).toMatchObject({ rows: { op: 'c', columnCount: 1, rows: Buffer.from('002a000000', 'hex') } })
  const place = { position: 500 - event.length, endPosition: 500 }
  for (const one of found) expect(one).toMatchObject(place)
})

it('a large compressed transaction is returned in parts', async () => {
  const event = payload(
    zstdCompressSync(Buffer.concat(Array.from({ length: 2_500 }, () => inner(EVENT.xid, XID)))),
    ZSTD,
  )
  const sizes: number[] = []
  for await (const events of (await open(await startScriptedMysql([event]))).read()) {
    sizes.push(events.length)
    if (sizes.reduce((sum, size) => sum + size) >= 2_502) break
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000)
})

it('events that MariaDB has compressed are read, and events that a reader may ignore are passed', async () => {
  const compressed = (body: Buffer, data: Buffer) => bytesOf(body, 1, data.length, deflateSync(data))
  const rows = compressed(ROWS.subarray(0, 12), ROWS.subarray(12))
  const events = [
    binlogEvent(200, Buffer.from('new'), { flags: 0x80 }),
    binlogEvent(EVENT.writeRowsCompressed, rows),
    binlogEvent(EVENT.queryCompressed, compressed(QUERY.subarray(0, 14), Buffer.from('COMMIT'))),
  ]
  const found = await readEvents(await startScriptedMysql(events), 3)
  expect(found.map(({ data }) => data)).toMatchObject([
    { kind: 'none' },
    { kind: 'rows', rows: { rows: Buffer.from('002a000000', 'hex') } },
    { kind: 'query', query: { sql: 'COMMIT' } },
  ])
})

const damaged = Buffer.from(binlogEvent(EVENT.xid, XID))
damaged[20]! ^= 1

it.each([
  ['has another checksum', damaged, 'its checksum is wrong'],
  ['ends within its header', binlogEvent(EVENT.xid, XID).subarray(0, 12), 'ends before a value of it does'],
  ['ends within its values', binlogEvent(EVENT.tableMap, TABLE.subarray(0, 10)), 'ends before a value of it does'],
  [
    'has rows with a length that is not true',
    binlogEvent(EVENT.writeRowsV2, bytesOf('0500000000000100 0000')),
    'ends before',
  ],
  ['is a transaction that cannot be decompressed', payload(Buffer.from('no zstd'), ZSTD), 'cannot be read'],
  [
    'is a transaction with an event that has no end',
    payload(zstdCompressSync(TRANSACTION.subarray(0, 60)), ZSTD),
    'is damaged',
  ],
])('an event that %s ends the stream, and not for a retry', async (_, event, message) => {
  const failed = readEvents(await startScriptedMysql([event, binlogEvent(EVENT.xid, XID)]), 2)
  await expect(failed).rejects.toThrow(message)
  await expect(failed).rejects.toMatchObject({ name: 'ProtocolError' })
})

it.each([
  ['that is not known', 200, 'events of the type 200 are not known'],
  ['that says that changes are missing', EVENT.incident, 'lacks changes'],
  ['with a part of a JSON value', EVENT.partialUpdateRows, 'binlog_row_value_options'],
  ['with a tagged GTID', EVENT.gtidTagged, 'GTIDs with tags'],
])('an event %s is not passed silently', async (_, type, reason) => {
  const [event] = await readEvents(await startScriptedMysql([binlogEvent(type, XID)]), 1)
  expect(event!.data).toMatchObject({ kind: 'unsupported', reason: expect.stringContaining(reason) })
})

it('a connection that ends is reported as transient', async () => {
  const failed = readEvents(await startScriptedMysql([], { afterwards: 'end' }), 1)
  await expect(failed).rejects.toMatchObject({ name: 'DatabaseError', isTransient: true })
})

it('a server that ends the connection in the middle of the login is reported, with TLS and without', async () => {
  for (const sslMode of ['disable', 'require'] as const) {
    const port = await startMysqlAt(async (packets, socket) => {
      packets.write(mysqlGreeting('mysql_native_password', Buffer.alloc(20, 7), 0x88_aa_00))
      await packets.read()
      socket.end()
    })
    await expect(open(port, { sslMode })).rejects.toMatchObject({ name: 'DatabaseError', isTransient: true })
  }
})

it('a server that always asks for another answer to its login is left', async () => {
  const port = await startMysqlAt(async (packets) => {
    packets.write(mysqlGreeting('mysql_native_password', Buffer.alloc(20, 7)))
    for (;;) {
      await packets.read()
      packets.write(bytesOf('fe', Buffer.from('mysql_native_password\0'), Buffer.alloc(21, 8)))
    }
  })
  await expect(open(port)).rejects.toThrow('does not end the login')
})

it('the text of an offset is never part of a statement', async () => {
  const start = { kind: 'gtids', gtids: "0-1-5\\', @@global.x = '1" } as const
  await expect(open(await startScriptedMysql([]), { start, isMariadb: true })).rejects.toThrow(
    'is not a GTID of MariaDB',
  )
})

it('a position that the protocol has no place for is refused with a remedy', async () => {
  const start = { kind: 'position', file: 'binlog.000001', position: 2 ** 32 } as const
  await expect(open(await startScriptedMysql([]), { start })).rejects.toThrow('set gtid_mode=ON')
})
