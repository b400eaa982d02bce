import { describe, expect, it } from 'vitest'
import { toSinkColumns } from '../../../../src/plugins/connectors/jdbc/sink/sink-columns.ts'
import type { TableWrite } from '../../../../src/plugins/connectors/jdbc/sink/sink-database.ts'
import { parseTimeZone } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import { type MysqlForm, toMysqlForm } from '../../../../src/plugins/connectors/mysql/sink/mysql-column.ts'
import { writeStatements } from '../../../../src/plugins/connectors/mysql/sink/write-statements.ts'
import { mysqlQuoted } from '../../../../src/plugins/connectors/mysql/sql-literal.ts'
import {
  array,
  BOOLEAN,
  BYTES,
  DATE,
  decimal,
  FLOAT64,
  INT32,
  INT64,
  type Schema,
  type SinkRecord,
  STRING,
  struct,
  TIME,
  TIMESTAMP,
} from '../../../../src/sdk/index.ts'

const BERLIN = parseTimeZone('Europe/Berlin')
const OPTIONS = { zone: BERLIN, dateZone: BERLIN, nullIsDefault: true }

function formOf(schema: Schema, own: { isKey?: boolean; epochUnit?: 'microseconds' | 'nanoseconds' } = {}) {
  return toMysqlForm({ schema, isKey: false, epochUnit: undefined, ...own }, OPTIONS)
}

const literal = (schema: Schema, type: string, value: unknown) => formOf(schema).form.literalFor(type)(value)

describe('the literals of values', () => {
  it.each([
    [INT64, 'bigint', -(2n ** 63n), '-9223372036854775808'],
    [INT32, 'varchar', 5, "'5'"],
    [FLOAT64, 'double', 0.1, '0.1e0'],
    [FLOAT64, 'double', 1e-300, '1e-300'],
    [FLOAT64, 'double', -0, '-0e0'],
    [FLOAT64, 'text', 0.1, "'0.1'"],
    [BOOLEAN, 'tinyint', true, '1'],
    [BOOLEAN, 'bit', false, '0'],
    [STRING, 'longtext', "O'Hara", "'O''Hara'"],
    [STRING, 'int', ' 12 ', '12'],
    [STRING, 'datetime', '2020-01-01', "'2020-01-01'"],
    [BYTES, 'blob', Buffer.from([0, 255]), "x'00ff'"],
    [decimal(2), 'decimal', { unscaled: -5n, scale: 2 }, '-0.05'],
    [decimal(2), 'longtext', { unscaled: -5n, scale: 2 }, "'-0.05'"],
    [DATE, 'date', new Date('2020-01-01'), "'2020-01-01'"],
    [DATE, 'year', new Date('2020-01-01'), '2020'],
    [TIME, 'time', 1, "'00:00:00.001'"],
    [TIMESTAMP, 'datetime', new Date('2020-07-01T10:00:00.5Z'), "'2020-07-01 12:00:00.500'"],
    [TIMESTAMP, 'timestamp', new Date('2020-07-01T10:00:00.5Z'), "'2020-07-01 10:00:00.500'"],
    [array(INT32), 'json', [1, 2], "'[1,2]'"],
    [STRING, 'text', null, 'NULL'],
    [{ type: 'int32', default: 7 } as Schema, 'int', null, '7'],
  ])('%j in a column of type %s: %s', (schema, type, value, expected) => {
    expect(literal(schema, type, value)).toBe(expected)
  })

  it.each([
    [FLOAT64, 'double', Number.NaN, 'cannot store NaN'],
    [STRING, 'int', '12abc', 'is not a number'],
    [STRING, 'int', '0 OR 1=1', 'is not a number'],
    [BYTES, 'int', Buffer.from('1'), 'bytes cannot be stored in a column of type int'],
    [INT32, 'int', 2 ** 31, 'expected int32'],
    [TIME, 'time', 86_400_000, 'is not a time of a day'],
    [TIMESTAMP, 'datetime', new Date(8.64e15), 'is not a time from 0000 to 9999'],
    [TIMESTAMP, 'datetime', new Date(Number.NaN), 'expected a date'],
    [decimal(0), 'decimal', { unscaled: 10n ** 65n, scale: 0 }, 'more than 65 digits'],
  ])('%j in a column of type %s rejects %s', (schema, type, value, message) => {
    expect(() => literal(schema, type, value)).toThrow(message)
  })

  it('convert microseconds and nanoseconds', () => {
    const micros = formOf(INT64, { epochUnit: 'microseconds' })
    expect(micros.type).toBe('DATETIME(6)')
    expect(micros.form.literalFor('datetime')(1_000_001)).toBe("'1970-01-01 01:00:01.000001'")
    const nanos = formOf(STRING, { epochUnit: 'nanoseconds' }).form.literalFor('timestamp')
    expect(nanos('1000001999')).toBe("'1970-01-01 00:00:01.000001'")
    expect(() => nanos("1' OR 1=1")).toThrow('is not a number of nanoseconds')
  })
})

describe('the types of created columns', () => {
  it.each([
    [STRING, false, 'LONGTEXT CHARACTER SET utf8mb4', undefined],
    [STRING, true, 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin', undefined],
    [BYTES, true, 'VARBINARY(255)', undefined],
    [decimal(2), false, 'DECIMAL(65,2)', undefined],
    [decimal(-2), false, 'DECIMAL(65,0)', undefined],
    [decimal(127), false, 'LONGTEXT CHARACTER SET utf8mb4', undefined],
    [TIMESTAMP, false, 'DATETIME(3)', undefined],
    [struct('a', { b: INT32 }), false, 'JSON', undefined],
    [{ type: 'string', default: "it's" } as Schema, false, 'LONGTEXT CHARACTER SET utf8mb4', "('it''s')"],
    [
      { type: 'string', default: '\\' } as Schema,
      false,
      'LONGTEXT CHARACTER SET utf8mb4',
      "(CONVERT(x'5c' USING utf8mb4))",
    ],
    [{ type: 'int32', default: 5 } as Schema, false, 'INT', '5'],
  ])('of %j, key %s, is %s with the default %s', (schema, isKey, type, fallback) => {
    const form = formOf(schema, { isKey })
    expect([form.type, form.fallback]).toEqual([type, fallback])
  })
})

describe('the statements', () => {
  const schema = struct('row', { id: INT32, word: STRING })
  const columns = toSinkColumns<MysqlForm>(null, schema, {
    'pk.mode': 'record_value',
    'pk.fields': ['id'],
    'fields.whitelist': [],
    'string.output.value.column.name': 'record_value',
    'timestamp.fields.list': [],
    'timestamp.precision.mode': 'microseconds',
    'delete.enabled': false,
    ...OPTIONS,
    toForm: toMysqlForm,
  })
  const target = {
    table: '`shop`.`T`',
    columns: [
      { name: 'id', type: 'int' },
      { name: 'word', type: 'text' },
    ],
  }
  const records = (...words: readonly string[]) =>
    words.map((word, id) => ({ value: { id, word } }) as unknown as SinkRecord)
  const statements = (own: Partial<TableWrite<MysqlForm>>, packet = 1 << 24) => {
    const write = {
      kind: 'insert',
      operation: 'write',
      records: records('a', 'b'),
      columns,
      target,
      keys: 1,
      ...own,
    } as const
    return [...writeStatements(write, mysqlQuoted, packet)]
  }

  it('have the rows as literals', () => {
    const insert = "INSERT INTO `shop`.`T` (`id`, `word`) VALUES (0, 'a'), (1, 'b')"
    expect(statements({})).toEqual([insert])
    expect(statements({ kind: 'upsert' })).toEqual([`${insert} ON DUPLICATE KEY UPDATE \`word\` = VALUES(\`word\`)`])
    expect(statements({ kind: 'upsert', keys: 2 })).toEqual([`${insert} ON DUPLICATE KEY UPDATE \`id\` = \`id\``])
    expect(statements({ kind: 'update' })).toEqual([
      "UPDATE `shop`.`T` SET `word` = 'a' WHERE `id` = 0",
      "UPDATE `shop`.`T` SET `word` = 'b' WHERE `id` = 1",
    ])
    const key = { columns: columns.slice(0, 1), target: { ...target, columns: target.columns.slice(0, 1) } }
    expect(statements({ kind: 'delete', ...key })).toEqual(['DELETE FROM `shop`.`T` WHERE `id` IN ((0), (1))'])
    expect(statements({ kind: 'delete', keys: 2 })).toEqual([
      "DELETE FROM `shop`.`T` WHERE (`id`, `word`) IN ((0, 'a'), (1, 'b'))",
    ])
  })

  it('are split before they exceed the packet of the server, and a row that exceeds it is rejected', () => {
    const word = 'é'.repeat(200)
    const split = statements({ records: records(word, word, word) }, 1000)
    expect(split.map((sql) => sql.match(/\(\d, /g)?.length)).toEqual([2, 1])
    for (const sql of split) expect(Buffer.byteLength(sql)).toBeLessThan(1000)
    expect(() => statements({ records: records(word.repeat(3)) }, 1000)).toThrow('increase max_allowed_packet')
  })

  it('name the field of a value that cannot be converted', () => {
    const wrong = [{ value: { id: 'x', word: 'a' } } as unknown as SinkRecord]
    expect(() => statements({ records: wrong })).toThrow("field 'id': expected int32")
  })
})
