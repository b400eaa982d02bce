import { expect, it } from 'vitest'
import { TableFilter } from '../../../../../src/plugins/connectors/cdc/config/table-filter.ts'
import { modesOf, parseStatement } from '../../../../../src/plugins/connectors/mysql/cdc/ddl/statement.ts'
import { TableSchemas } from '../../../../../src/plugins/connectors/mysql/cdc/ddl/table-schemas.ts'
import { logPositionOf } from '../../../../../src/plugins/connectors/mysql/cdc/position.ts'
import { keyLiteral } from '../../../../../src/plugins/connectors/mysql/cdc/snapshot/key-order.ts'
import { MysqlChunkSession } from '../../../../../src/plugins/connectors/mysql/cdc/snapshot/mysql-chunk-session.ts'

const UUID = '3e11fa47-71ca-11e1-9e33-c80aa9429562'
const STATE = {
  isMariadb: false,
  hasGtids: true,
  hasChecksum: true,
  hasLowerCaseNames: false,
  charset: 'utf8mb4',
  collation: 'utf8mb4_general_ci',
  problem: undefined,
}
const NONE = { include: [], exclude: [] }

function schemasOf(ddl: string): TableSchemas {
  const schemas = new TableSchemas({ hasLowerCaseNames: false, serverCharset: 'utf8mb4' })
  schemas.apply(parseStatement(ddl, 'shop', modesOf(0n)), () => true)
  return schemas
}

/** A session of MySQL that answers as `answers` says, by the beginnings of statements. */
async function openChunks(answers: Readonly<Record<string, () => readonly (readonly (string | null)[])[]>>) {
  const sent: string[] = []
  const answer = (sql: string) => {
    sent.push(sql)
    return Object.entries(answers).find(([start]) => sql.startsWith(start))?.[1]() ?? []
  }
  const session = {
    isOpen: true,
    query: async (_: string, sql: string) => answer(sql),
    execute: async (_: string, sql: string) => answer(sql).length,
    close: async () => {},
  }
  const filter = new TableFilter({ schemas: NONE, tables: NONE, isSystemSchema: () => false, signalTable: undefined })
  const schemas = schemasOf('CREATE TABLE orders (shop VARCHAR(9), id DECIMAL(9,2), n INT, PRIMARY KEY (shop, id))')
  const chunks = await MysqlChunkSession.open(session, { state: STATE, schemas, filter, serverNumber: 7 })
  return { chunks, sent }
}

it('reads a chunk of MySQL after each transaction that the stream has delivered is committed there', async () => {
  let asked = 0
  const { chunks, sent } = await openChunks({
    'SELECT @@global.server_id': () => [['7']],
    'SELECT GTID_SUBSET': () => [[++asked < 3 ? '0' : '1']],
    'SHOW BINARY LOG STATUS': () => [['binlog.000012', '345', '', '', `${UUID}:1-9`]],
    'SELECT `shop`, `id`, `n` FROM': () => [["it's", '7.50', '1']],
  })
  const plan = await chunks.plan({ name: 'shop.orders', condition: 'n > 0 -- all', surrogateKey: undefined })
  const range = { after: ['a', '1.00'], maximum: ['z', '9.00'], rowsMax: 5 }
  const read = await chunks.readChunk(plan, range, { position: 1n, gtids: `${UUID}:1-9` })
  const closePosition = logPositionOf({ file: 'binlog.000012', position: 345 })
  expect(read).toEqual({ rows: [["it's", '7.50', '1']], lastKey: ["it's", '7.50'], closePosition })
  expect(sent.slice(-7)).toEqual([
    `SELECT GTID_SUBSET('${UUID}:1-9', @@global.gtid_executed)`,
    `SELECT GTID_SUBSET('${UUID}:1-9', @@global.gtid_executed)`,
    `SELECT GTID_SUBSET('${UUID}:1-9', @@global.gtid_executed)`,
    'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY',
    "SELECT `shop`, `id`, `n` FROM `shop`.`orders` WHERE (`shop` >= 'a' AND (`shop` > 'a' OR `id` > 1.00)) AND " +
      "(`shop` <= 'z' AND (`shop` < 'z' OR `id` <= 9.00)) AND (n > 0 -- all\n) ORDER BY `shop`, `id` LIMIT 5",
    'SHOW BINARY LOG STATUS',
    'ROLLBACK',
  ])
})

it('rejects a session on another server than that of the stream, whose positions cannot be compared', async () => {
  await expect(openChunks({ 'SELECT @@global.server_id': () => [['8']] })).rejects.toMatchObject({
    message: expect.stringContaining('the connection is to the server 8, but changes are read from the server 7'),
    isTransient: true,
  })
})

it('orders positions by the number of the file, then by the position in it', () => {
  const at = (file: string, position: number) => logPositionOf({ file, position })
  expect(at('binlog.000999', 2 ** 40) < at('binlog.001000', 4)).toBe(true)
  expect(at('a.000002', 5) > at('a.000002', 4)).toBe(true)
})

it('writes keys as literals of their types, and refuses a number that is none', () => {
  const [table] = schemasOf('CREATE TABLE t (n BIGINT, b VARBINARY(3), f BIT(9), t TEXT)').tables
  const [n, b, f, t] = table!.columns
  expect(keyLiteral(n!, '-12')).toBe('-12')
  expect(keyLiteral(b!, "'\u0000é")).toBe("x'2700e9'")
  expect(keyLiteral(f!, '\u0001\u0002')).toBe('258')
  expect(keyLiteral(t!, "it's")).toBe("'it''s'")
  expect(() => keyLiteral(n!, '1 OR 1 = 1')).toThrow('is not a number')
})
