import { describe, expect, it } from 'vitest'
import { modesOf, parseStatement } from '../../../../../src/plugins/connectors/mysql/cdc/ddl/statement.ts'
import { TableSchemas } from '../../../../../src/plugins/connectors/mysql/cdc/ddl/table-schemas.ts'
import {
  parseHistoryRecord,
  printHistoryRecord,
} from '../../../../../src/plugins/connectors/mysql/cdc/history/history-record.ts'
import { SchemaHistory } from '../../../../../src/plugins/connectors/mysql/cdc/history/schema-history.ts'
import { isAtOrBefore, parseMysqlOffset } from '../../../../../src/plugins/connectors/mysql/cdc/position.ts'

const MYSQL = { isMariadb: false, hasGtids: false }
const MARIADB = { isMariadb: true, hasGtids: true }

const emptySchemas = () => new TableSchemas({ hasLowerCaseNames: false, serverCharset: 'utf8mb4' })

const DDL = `CREATE TABLE \`a.b"c\` (id SERIAL, e ENUM('x', 'it''s') DEFAULT 'x', n DECIMAL(5,2) NOT NULL DEFAULT 1.5,
  t TEXT CHARACTER SET latin1 COMMENT 'text', d DATETIME DEFAULT NULL, PRIMARY KEY (id)) COMMENT 'all'`

function recordOf(offset: object, ddl = DDL, server = 'one'): string {
  const { changes } = emptySchemas().apply(parseStatement(ddl, 'db', modesOf(0n)), () => true)
  return printHistoryRecord({
    partition: { server },
    offset: offset as never,
    timestampMs: 5,
    database: 'db',
    ddl,
    changes,
  })
}

/** A history with these records. */
function historyOf(records: readonly string[]) {
  const stored = records.map((value, offset) => ({ offset, key: null, value: Buffer.from(value) }))
  return new SchemaHistory({
    topic: 'history',
    bootstrapServers: undefined,
    server: 'one',
    openTopic: async ({ offset }) => {
      let nextOffset = offset ?? stored.length
      return {
        get nextOffset() {
          return nextOffset
        },
        async poll() {
          const polled = stored.slice(nextOffset, nextOffset + 1)
          nextOffset += polled.length
          return polled
        },
        async close() {},
      }
    },
    report: async () => {},
    log: { debug() {}, info() {}, warn() {}, error() {} },
  })
}

const place = (offset: object) => parseMysqlOffset(offset as never).position

describe('the schema history', () => {
  it('has the structure of tables in the form of Debezium', () => {
    const text = recordOf({ file: 'binlog.000001', pos: 4 })
    const parsed = JSON.parse(text)
    expect(Object.keys(parsed)).toEqual(['source', 'position', 'ts_ms', 'databaseName', 'ddl', 'tableChanges'])
    expect(parsed.tableChanges[0]).toMatchObject({ type: 'CREATE', id: '"db"."a.b""c"', comment: 'all' })
    expect(parsed.tableChanges[0].table.columns[1]).toEqual({
      name: 'e',
      jdbcType: 1,
      typeName: 'ENUM',
      typeExpression: 'ENUM',
      charsetName: 'utf8mb4',
      length: 1,
      position: 2,
      optional: true,
      autoIncremented: false,
      generated: false,
      comment: null,
      hasDefaultValue: true,
      defaultValueExpression: 'x',
      enumValues: ["'x'", "'it''s'"],
    })
    const schemas = emptySchemas()
    schemas.apply(parseStatement(DDL, 'db', modesOf(0n)), () => true)
    const [change] = parseHistoryRecord(text)!.changes!
    expect(change).toEqual({ type: 'CREATE', table: schemas.get({ schema: 'db', name: 'a.b"c' }) })
  })

  it('is applied up to a position, without the records of other servers', async () => {
    const schemas = emptySchemas()
    const records = [
      recordOf({ file: 'binlog.000001', pos: 100 }, 'CREATE TABLE a (id INT)'),
      recordOf({ file: 'binlog.000001', pos: 200 }, 'CREATE TABLE b (id INT)', 'other'),
      recordOf({ file: 'binlog.000002', pos: 50 }, 'CREATE TABLE c (id INT)'),
      recordOf({ file: 'binlog.000002', pos: 90 }, 'CREATE TABLE d (id INT)'),
      JSON.stringify({
        source: { server: 'one' },
        position: { file: 'binlog.000001', pos: 4 },
        databaseName: 'db',
        ddl: 'CREATE TABLE e (id INT)',
      }),
      JSON.stringify({ unrelated: true }),
    ]
    const count = await historyOf(records).recover(schemas, place({ file: 'binlog.000002', pos: 50 }), MYSQL)
    const known = ['a', 'b', 'c', 'd', 'e'].filter((name) => schemas.get({ schema: 'db', name }) !== undefined)
    expect([count, known]).toEqual([4, ['a', 'c', 'e']])
  })

  it('is not applied where the stream reads the statement again: an exchange of names would be undone', async () => {
    const at = { file: 'binlog.000001', pos: 100, gtids: '0-1-5' }
    const before = { ...at, snapshot: 'INITIAL' }
    const exchange = 'RENAME TABLE a TO x, b TO a, x TO b'
    const schemas = emptySchemas()
    schemas.apply(parseStatement('CREATE TABLE a (id INT)', 'db', modesOf(0n)), () => true)
    schemas.apply(parseStatement('CREATE TABLE b (n INT)', 'db', modesOf(0n)), () => true)
    const { changes } = schemas.apply(parseStatement(exchange, 'db', modesOf(0n)), () => true)
    const renamed = { partition: { server: 'one' }, timestampMs: 5, database: 'db', ddl: exchange, changes }
    const records = [
      recordOf(before, 'CREATE TABLE a (id INT)'),
      recordOf(before, 'CREATE TABLE b (n INT)'),
      printHistoryRecord({ ...renamed, offset: { ...at, pos: 200 } }),
    ]
    const firstColumn = async (start: object) => {
      const recovered = emptySchemas()
      await historyOf(records).recover(recovered, place(start), MARIADB)
      return recovered.get({ schema: 'db', name: 'a' })?.columns[0]?.name
    }
    expect(await firstColumn(at)).toBe('id')
    expect(await firstColumn({ ...at, pos: 200, gtids: '0-1-6' })).toBe('n')
  })

  it('stops the start if a record cannot be read', async () => {
    const recover = (record: string) =>
      historyOf([record]).recover(emptySchemas(), place({ file: 'b.1', pos: 4 }), MARIADB)
    await expect(recover('{')).rejects.toThrow('the record at offset 0 of the schema history history cannot be read')
    const broken = {
      source: { server: 'one' },
      position: { file: 'b.1', pos: 4 },
      tableChanges: [{ type: 'CREATE', id: 'x' }],
    }
    await expect(recover(JSON.stringify(broken))).rejects.toThrow("'x' is not the name of a table")
  })

  it.each([
    [{ file: 'b.9', pos: 9 }, { file: 'b.10', pos: 4 }, true],
    [{ file: 'b.10', pos: 4 }, { file: 'b.9', pos: 9 }, false],
    [{ file: 'b.1', pos: 9, event: 2 }, { file: 'b.1', pos: 9, event: 1 }, false],
    [{ file: 'b.1', pos: 9, gtids: '0-1-5' }, { file: 'c.1', pos: 4, gtids: '0-1-6' }, true],
    [{ file: 'b.1', pos: 9, gtids: '0-1-5', event: 1 }, { file: 'b.1', pos: 9, gtids: '0-1-5' }, false],
    [{ file: 'b.1', pos: 9, gtids: '0-1-7' }, { file: 'b.1', pos: 99, gtids: '0-1-6' }, false],
    [{ file: 'b.1', pos: 9 }, { file: 'b.1', pos: 4, gtids: '0-1-6' }, true],
  ])('places %j before %j: %s', (recorded, wanted, expected) => {
    expect(isAtOrBefore(place(recorded), place(wanted), true)).toBe(expected)
  })
})
