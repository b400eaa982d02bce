import { describe, expect, it } from 'vitest'
import { jdbcSource } from '../../../../src/plugins/connectors/jdbc/jdbc-source.ts'
import type { TableQuery } from '../../../../src/plugins/connectors/jdbc/source/select-statement.ts'
import { parseTimeZone, UTC } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import type { ZeroDates } from '../../../../src/plugins/connectors/mysql/connection-url.ts'
import { clampedTimestamp, orderedMicros } from '../../../../src/plugins/connectors/mysql/date-text.ts'
import type { MysqlField } from '../../../../src/plugins/connectors/mysql/mysql-field.ts'
import { toMysqlResultColumn } from '../../../../src/plugins/connectors/mysql/source/result-columns.ts'
import { selectMysqlRowsAfter } from '../../../../src/plugins/connectors/mysql/source/select-mysql-rows-after.ts'
import { mysqlQuoted } from '../../../../src/plugins/connectors/mysql/sql-literal.ts'
import { validateConfig } from '../../../../src/sdk/index.ts'

const UNSIGNED = 32
const NOT_NULL = 1
const BINARY = 63
const BERLIN = parseTimeZone('Europe/Berlin')

function field(typeId: number, own: Partial<MysqlField> = {}): MysqlField {
  return {
    ...{ name: 'f', typeId, collationId: 255, flags: 0, length: 20, decimals: 0 },
    ...{ extendedType: undefined, format: undefined, ...own },
  }
}

function columnOf(
  own: MysqlField,
  options: { zeroDates?: ZeroDates; isYearDate?: boolean; isTinyintBoolean?: boolean } = {},
) {
  const mapping = { numeric: 'none', granularity: 'connect_logical', zone: BERLIN } as const
  const fromUrl = { zeroDates: 'exception', isYearDate: true, isTinyintBoolean: false } as const
  return toMysqlResultColumn(own, { ...mapping, ...fromUrl, ...options })
}

describe('toMysqlResultColumn', () => {
  it.each([
    ['tinyint', field(1), 'int8', '-128', -128],
    ['tinyint unsigned', field(1, { flags: UNSIGNED }), 'int16', '255', 255],
    ['tinyint(1)', field(1, { length: 1 }), 'int8', '2', 2],
    ['smallint unsigned', field(2, { flags: UNSIGNED }), 'int32', '65535', 65_535],
    ['mediumint unsigned', field(9, { flags: UNSIGNED }), 'int64', '16777215', 16_777_215],
    ['int', field(3), 'int32', '-2147483648', -2_147_483_648],
    ['int unsigned', field(3, { flags: UNSIGNED }), 'int64', '4294967295', 4_294_967_295],
    ['bigint', field(8), 'int64', '-9223372036854775808', -(2n ** 63n)],
    ['bigint unsigned', field(8, { flags: UNSIGNED }), 'int64', '9223372036854775807', 2n ** 63n - 1n],
    ['float', field(4), 'float32', '1.5', 1.5],
    ['double', field(5), 'float64', '1e300', 1e300],
    ['decimal(4, 2)', field(246, { decimals: 2 }), 'bytes', '-12.30', { unscaled: -1230n, scale: 2 }],
    ['bit(1)', field(16, { length: 1, collationId: BINARY }), 'int8', '\x01', 1],
    ['bit(9)', field(16, { length: 9, collationId: BINARY }), 'bytes', '\x01\xff', Buffer.from([1, 255])],
    ['blob', field(252, { collationId: BINARY }), 'bytes', '\0\xff', Buffer.from([0, 255])],
    ['text', field(252), 'string', 'é', 'é'],
    ['enum', field(254, { flags: 256 }), 'string', 'small', 'small'],
    ['json of MySQL', field(245, { collationId: BINARY }), 'string', '{"a": 1}', '{"a": 1}'],
    ['uuid of MariaDB', field(254, { collationId: BINARY, extendedType: 'uuid' }), 'string', 'x', 'x'],
    ['geometry', field(255, { collationId: BINARY }), 'bytes', '\x01', Buffer.from([1])],
    ['year', field(13, { flags: UNSIGNED }), 'int32', '2020', new Date('2020-01-01')],
    ['date', field(10), 'int32', '2020-02-29', new Date('2020-02-29')],
    ['time(3)', field(11), 'int32', '23:59:59.999', 86_399_999],
    ['datetime', field(12), 'int64', '2020-07-01 12:00:00.5', new Date('2020-07-01T10:00:00.500Z')],
    ['timestamp', field(7), 'int64', '2020-07-01 12:00:00', new Date('2020-07-01T12:00:00Z')],
  ])('converts %s', (_type, own, type, text, value) => {
    const column = columnOf(own)
    expect(column.schema).toMatchObject({ type, optional: true })
    expect(column.read(text)).toEqual(value)
    expect(columnOf({ ...own, flags: own.flags | NOT_NULL }).schema.optional).not.toBe(true)
  })

  it('uses the options of the URL', () => {
    const tiny = columnOf(field(1, { length: 1 }), { isTinyintBoolean: true })
    expect([tiny.schema.type, tiny.read('0'), tiny.read('1')]).toEqual(['boolean', false, true])
    const year = columnOf(field(13), { isYearDate: false })
    expect([year.schema.type, year.read('2020')]).toEqual(['int16', 2020])
  })

  it.each([
    [field(8, { flags: UNSIGNED }), '9223372036854775808', 'greater than 9223372036854775807'],
    [field(11), '-00:00:01', 'is not a time'],
    [field(11), '24:00:00', 'longer than a day'],
    [field(11), '838:59:59', 'is not a time'],
    [field(10), '2020-00-00', 'is not a date'],
    [field(10), '2021-02-29', 'is not a date'],
    [field(12), '2020-02-30 00:00:00', 'is not a date'],
  ])('rejects a value that its type cannot represent: %j %s', (own, text, message) => {
    expect(() => columnOf(own).read(text)).toThrow(message)
  })

  it.each([
    [10, '0000-00-00'],
    [12, '0000-00-00 00:00:00'],
    [7, '0000-00-00 00:00:00.000000'],
    [13, '0000'],
  ])('reads zero dates according to zeroDateTimeBehavior: type %d', (typeId, zero) => {
    const utc = { ...field(typeId) }
    expect(() => columnOf(utc).read(zero)).toThrow('set zeroDateTimeBehavior=ROUND or CONVERT_TO_NULL')
    expect(columnOf(utc, { zeroDates: 'null' }).read(zero)).toBeNull()
    expect(() => columnOf(field(typeId, { flags: NOT_NULL }), { zeroDates: 'null' }).read(zero)).toThrow('NOT NULL')
    expect((columnOf(utc, { zeroDates: 'round' }).read(zero) as Date).getTime()).toBeLessThan(Date.parse('0001-01-03'))
  })
})

describe('the timestamps of offsets', () => {
  it('keep the order of dates that do not exist', () => {
    const texts = [
      '0000-00-00 00:00:00',
      '2019-12-31 23:59:59.999999',
      '2020-00-00 00:00:00',
      '2020-01-01 00:00:00.000001',
    ]
    const micros = texts.map((text) => orderedMicros(text, UTC))
    expect(micros.toSorted((a, b) => a - b)).toEqual(micros)
  })

  it('are local times in the range of the server', () => {
    expect(clampedTimestamp(1_500_000, BERLIN)).toBe('1970-01-01 01:00:01.500000')
    expect(clampedTimestamp(-1, UTC)).toBe('1969-12-31 23:59:59.999999')
    expect(clampedTimestamp(orderedMicros('0000-00-00 00:00:00', UTC), UTC)).toBe('0000-01-01 00:00:00.000000')
    expect(clampedTimestamp(8.64e18, UTC)).toBe('9999-12-31 23:59:59.999999')
  })
})

describe('selectMysqlRowsAfter', () => {
  const query = (own: Partial<TableQuery>): TableQuery => ({
    from: { table: { schema: 'shop', name: 'T' } },
    ...{ timestampColumns: [], incrementingColumn: undefined, suffix: '', ...own },
  })
  const options = { quote: mysqlQuoted, zone: BERLIN }
  const at = { name: 'at', typeId: 12 }
  const changed = { name: 'Changed', typeId: 7 }

  it('writes local times for datetime, and instants for timestamp', () => {
    const both = query({ timestampColumns: ['at'], incrementingColumn: 'id' })
    const after = { micros: 0, id: 5 }
    expect(selectMysqlRowsAfter(both, after, { beforeMicros: 1_000_000 }, { ...options, fields: [at] })).toEqual({
      text:
        "SELECT * FROM `shop`.`T` WHERE `at` < TIMESTAMP'1970-01-01 01:00:01.000000' AND `at` >= TIMESTAMP'1970-01-01 01:00:00.000000' " +
        "AND (`at` > TIMESTAMP'1970-01-01 01:00:00.000000' OR `id` > 5) ORDER BY `at`, `id`",
      values: [],
    })
    const instants = query({ timestampColumns: ['changed'] })
    expect(selectMysqlRowsAfter(instants, { micros: 0 }, {}, { ...options, fields: [changed] }).text).toContain(
      "`changed` > TIMESTAMP'1970-01-01 00:00:00.000000'",
    )
  })

  it('does not compare local times with instants', () => {
    const mixed = query({ timestampColumns: ['changed', 'at'] })
    const select = (zone: typeof UTC) =>
      selectMysqlRowsAfter(mixed, { micros: 0 }, {}, { ...options, zone, fields: [at, changed] }).text
    expect(() => select(BERLIN)).toThrow('set db.timezone=UTC')
    expect(select(UTC)).toContain("COALESCE(`changed`, `at`) > TIMESTAMP'1970-01-01 00:00:00.000000'")
  })

  it('never writes a text of the server as SQL', () => {
    const byId = query({ incrementingColumn: 'id' })
    expect(
      selectMysqlRowsAfter(byId, { id: 2n ** 63n }, { upToId: "1' OR 1=1" }, { ...options, fields: [] }).text,
    ).toBe("SELECT * FROM `shop`.`T` WHERE `id` > 9223372036854775808 AND `id` <= '1'' OR 1=1' ORDER BY `id`")
  })
})

describe('the configuration of JdbcSource', () => {
  const given = { 'topic.prefix': '', mode: 'bulk' }
  it.each([
    [
      { 'connection.url': 'jdbc:oracle:thin:scott/secret@db' },
      'connection.url',
      'is not the URL of a PostgreSQL, MySQL or MariaDB',
    ],
    [{ 'connection.url': 'jdbc:mysql://x:secret@db/s?sslMode=no' }, 'connection.url', 'sslMode=no'],
    [
      { 'connection.url': 'jdbc:mysql://db/s', 'table.types': 'MATERIALIZED VIEW' },
      'table.types',
      'expected TABLE, VIEW',
    ],
    [{ 'connection.url': 'jdbc:postgresql://db/s', 'table.types': 'MATERIALIZED VIEW' }, 'table.types', undefined],
    [{ 'connection.url': 'jdbc:mariadb://db/s', 'dialect.name': 'MySqlDatabaseDialect' }, 'dialect.name', undefined],
  ])('%j has for %s the error %s', (written, key, message) => {
    const found = validateConfig(jdbcSource.config, { ...given, ...written }).find(({ name }) => name === key)
    expect(found?.errors).toEqual(message === undefined ? [] : [expect.stringContaining(message)])
    expect(found?.errors.join()).not.toContain('secret')
  })
})
