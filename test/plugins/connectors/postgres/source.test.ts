import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteMethodOf } from '../../../../src/plugins/connectors/jdbc/connection-keys.ts'
import { quoted } from '../../../../src/plugins/connectors/jdbc/identifier.ts'
import { columnsFor } from '../../../../src/plugins/connectors/jdbc/source/columns-mapping.ts'
import { rowLimit, type TableQuery } from '../../../../src/plugins/connectors/jdbc/source/select-statement.ts'
import {
  earlierPartitions,
  initialOffset,
  parseOffset,
  resumableOffsets,
  toSourceOffset,
} from '../../../../src/plugins/connectors/jdbc/source/table-offset.ts'
import { partitionEvenly } from '../../../../src/plugins/connectors/jdbc/source/table-selection.ts'
import { parseTimeZone, UTC } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import { toPostgresError } from '../../../../src/plugins/connectors/postgres/postgres-error.ts'
import { postgresSource } from '../../../../src/plugins/connectors/postgres/source/postgres-source.ts'
import { selectRowsAfter } from '../../../../src/plugins/connectors/postgres/source/select-rows-after.ts'
import { parseConfig, validateConfig } from '../../../../src/sdk/index.ts'
import { shippedCatalog } from '../../../support/shipped-plugins.ts'

const GIVEN = { 'connection.url': 'jdbc:postgresql://db/shop', 'topic.prefix': '' }

describe('the offsets of PostgresSource', () => {
  it('are parsed back to the same position', () => {
    const micros = fc.option(fc.integer({ min: -(10 ** 15), max: 4 * 10 ** 15 }), { nil: undefined })
    const id = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: undefined })
    fc.assert(
      fc.property(micros, id, (at, last) => {
        const stored = parseOffset(toSourceOffset({ micros: at, id: last }))
        expect([stored.micros, stored.id === undefined ? undefined : BigInt(stored.id)]).toEqual([at, last])
      }),
    )
  })

  it('have the format of the JDBC connector', () => {
    expect(parseOffset({ incrementing: 7, timestamp: 1_767_225_600_123, timestamp_nanos: 123_456_000 })).toEqual({
      id: 7,
      micros: 1_767_225_600_123_456,
    })
    expect(toSourceOffset({ id: 9007199254740993n })).toEqual({ incrementing: 9007199254740993n })
    expect(parseOffset({ incrementing: '9007199254740993' })).toEqual({ id: 9007199254740993n })
    expect(parseOffset({ timestamp: 1_767_225_600_123 })).toEqual({ micros: 1_767_225_600_123_000 })
    for (const wrong of [{ incrementing: 'x' }, { timestamp: '1' }, { timestamp: 1, timestamp_nanos: -1 }]) {
      expect(() => parseOffset(wrong)).toThrow('of an offset must be')
    }
  })

  it('stay before a timestamp of which more rows may follow', () => {
    const [a, b, c] = [1, 2, 3].map((micros) => ({ micros }))
    expect(resumableOffsets({}, [1, 1, 2, 3, 3], true)).toEqual([{}, a, b, b, c])
    expect(resumableOffsets({}, [1, 1, 2, 3, 3], false)).toEqual([{}, a, b, b, b])
  })

  it('are rejected by alterOffsets if the source cannot resume from them', () => {
    const config = parseConfig(postgresSource.config, { ...GIVEN, mode: 'bulk' })
    const alter = (partition: Record<string, string>, offset: Record<string, string> | null) =>
      postgresSource.alterOffsets!(config, [{ partition, offset }])
    expect(() => alter({ table: 'a' }, null)).not.toThrow()
    expect(() => alter({ file: 'a' }, null)).toThrow('the partition of an offset must be')
    expect(() => alter({ query: 'query' }, { incrementing: 'x' })).toThrow("'incrementing' of an offset")
  })
})

describe('rowLimit', () => {
  it.each([
    ['', Number.POSITIVE_INFINITY],
    ['limit 100', 100],
    ['LIMIT 20, 100', 100],
    ['OFFSET 0 FETCH FIRST 7 ROWS ONLY', 7],
    ['FETCH NEXT 7 ROWS WITH TIES', Number.POSITIVE_INFINITY],
    ['FOR SHARE', Number.POSITIVE_INFINITY],
  ])('of the suffix %j is %d', (suffix, expected) => {
    expect(rowLimit(suffix)).toBe(expected)
  })
})

describe('initialOffset', () => {
  it.each([
    [{ mode: 'incrementing' }, {}],
    [{ mode: 'incrementing', 'incrementing.initial': '41' }, { id: 41 }],
    [{ mode: 'timestamp', 'timestamp.column.name': 'at', 'timestamp.initial': '5' }, { micros: 5000 }],
    [{ mode: 'timestamp', 'timestamp.column.name': 'at', 'timestamp.initial': '-1' }, { micros: 777 }],
    [{ mode: 'timestamp', 'timestamp.column.name': 'at', 'timestamp.initial.ms': '-1' }, { micros: -1000 }],
    [
      {
        mode: 'timestamp+incrementing',
        'timestamp.column.name': 'at',
        'timestamp.initial.ms': '5',
        'incrementing.initial': '41',
      },
      { micros: 5000, id: 41 },
    ],
    [{ mode: 'bulk', 'incrementing.initial': '41', 'timestamp.initial.ms': '5' }, {}],
  ])('for %j is %j', async (written, place) => {
    const config = parseConfig(postgresSource.config, { ...GIVEN, ...written })
    expect(await initialOffset(config, async () => 777)).toEqual(place)
  })
})

describe('the compatibility with Aiven’s connectors', () => {
  it('accepts sql.quote.identifiers, which overrides quote.sql.identifiers', () => {
    const quoting = (written: Record<string, string>) =>
      quoteMethodOf(parseConfig(postgresSource.config, { ...GIVEN, mode: 'bulk', ...written }))
    expect(quoting({})).toBe('always')
    expect(quoting({ 'sql.quote.identifiers': 'false' })).toBe('never')
    expect(quoting({ 'sql.quote.identifiers': 'true', 'quote.sql.identifiers': 'never' })).toBe('always')
  })

  it('includes the class names', () => {
    const catalog = shippedCatalog()
    expect(catalog.find('source', 'io.aiven.connect.jdbc.JdbcSourceConnector')?.class).toBe('JdbcSource')
    expect(catalog.find('sink', 'io.aiven.connect.jdbc.JdbcSinkConnector')?.class).toBe('JdbcSink')
  })

  it('includes the offsets of tables with unqualified names', () => {
    expect(earlierPartitions({ schema: 'public', name: 'T' }, 'shop')).toEqual([
      { protocol: '1', table: 'public.T' },
      { protocol: '1', table: 'shop.public.T' },
      { protocol: '1', table: 'T' },
      { table: 'T' },
    ])
  })
})

describe('selectRowsAfter', () => {
  const table = { table: { schema: 'public', name: 'T' } }
  const origin = (own: Partial<TableQuery>): TableQuery => ({
    from: table,
    timestampColumns: [],
    incrementingColumn: undefined,
    suffix: '',
    ...own,
  })
  const berlin = parseTimeZone('Europe/Berlin')

  it('selects the rows after the offset', () => {
    const both = origin({ timestampColumns: ['at'], incrementingColumn: 'id' })
    expect(selectRowsAfter(both, { micros: 0, id: 5 }, { beforeMicros: 1_000_000 }, quoted, berlin)).toEqual({
      text: 'SELECT * FROM "public"."T" WHERE "at" < $1 AND ("at", "id") > ($2, $3) ORDER BY "at", "id"',
      values: ['1970-01-01 01:00:01.000000+01:00:00', '1970-01-01 01:00:00.000000+01:00:00', '5'],
    })
    expect(selectRowsAfter(both, { micros: 0 }, {}, quoted, UTC).text).toContain('WHERE "at" >= $1 ORDER BY')
    const byId = origin({ incrementingColumn: 'id', suffix: 'LIMIT 3' })
    expect(selectRowsAfter(byId, { id: 2n ** 60n }, { upToId: '9' }, quoted, UTC)).toEqual({
      text: 'SELECT * FROM "public"."T" WHERE "id" > $1 AND "id" <= $2 ORDER BY "id" LIMIT 3',
      values: [String(2n ** 60n), '9'],
    })
    expect(selectRowsAfter(byId, {}, {}, quoted, UTC).text).toBe('SELECT * FROM "public"."T" ORDER BY "id" LIMIT 3')
  })

  it('uses the first timestamp that is not null, and the configured query', () => {
    const query = origin({ from: { query: 'SELECT 1' }, timestampColumns: ['a', 'b'] })
    expect(selectRowsAfter(query, { micros: 0 }, {}, quoted, UTC).text).toBe(
      'SELECT 1 WHERE COALESCE("a", "b") > $1 ORDER BY COALESCE("a", "b")',
    )
    expect(selectRowsAfter(origin({}), {}, {}, quoted, UTC)).toEqual({ text: 'SELECT * FROM "public"."T"', values: [] })
  })
})

describe('the tables of PostgresSource', () => {
  it('are divided evenly among the tasks, in their order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 9 }), (items, tasksMax) => {
        const shares = partitionEvenly(items, tasksMax)
        const sizes = shares.map(({ length }) => length)
        expect(shares.flat()).toEqual(items)
        expect(shares.length).toBe(Math.min(items.length, tasksMax))
        expect(Math.max(0, ...sizes) - Math.min(...sizes, Math.max(0, ...sizes))).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('have the columns of the entry that matches them', () => {
    const mapping = { 'timestamp.columns.mapping': 'public\\.a.*:[x|y],public\\.ab:[z]' }
    const config = parseConfig(postgresSource.config, { ...GIVEN, ...mapping, mode: 'timestamp' })
    const columnsOf = (name: string) =>
      columnsFor(config['timestamp.columns.mapping'], { schema: 'public', name }, 'key')
    expect(columnsOf('a')).toEqual(['x', 'y'])
    expect(() => columnsOf('ab')).toThrow('key: 2 entries match the table public.ab')
  })
})

describe('the configuration of PostgresSource', () => {
  it.each([
    [{ mode: 'timestamp' }, 'timestamp.column.name', 'mode=timestamp requires timestamp.column.name'],
    [
      { mode: 'incrementing', query: 'x' },
      'incrementing.column.name',
      'with a query requires incrementing.column.name',
    ],
    [{ mode: 'bulk', query: 'x', 'table.whitelist': 'a' }, 'query', 'cannot be combined'],
    [{ mode: 'bulk', 'table.whitelist': 'a', 'table.blacklist': 'b' }, 'table.blacklist', 'cannot be combined'],
    [{ mode: 'bulk', 'table.exclude.list': 'b' }, 'table.exclude.list', 'requires table.include.list'],
    [{ mode: 'bulk', 'table.types': 'sequence' }, 'table.types', "'sequence' must be one of TABLE"],
    [{ mode: 'bulk', 'db.timezone': 'Nowhere' }, 'db.timezone', "'Nowhere' is not a time zone"],
    [
      { mode: 'bulk', 'connection.url': 'jdbc:mysql://x:secret@y/z' },
      'connection.url',
      'is not the URL of a PostgreSQL',
    ],
  ])('rejects %j with an error for %s', (written, key, message) => {
    const found = validateConfig(postgresSource.config, { ...GIVEN, ...written }).find(({ name }) => name === key)
    expect(found?.errors).toEqual([expect.stringContaining(message)])
    expect(found?.errors[0]).not.toContain('secret')
  })
})

describe('toPostgresError', () => {
  it.each([
    [{ code: 'ECONNRESET', message: 'read ECONNRESET' }, true],
    [{ message: 'Connection terminated unexpectedly' }, true],
    [{ code: '57P01', message: 'terminating connection due to administrator command' }, true],
    [{ code: '40P01', message: 'deadlock detected' }, true],
    [{ code: '53300', message: 'too many clients' }, true],
    [{ code: '28P01', message: 'password authentication failed' }, false],
    [{ code: '42P01', message: 'relation does not exist' }, false],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN', message: 'self-signed certificate' }, false],
    [new TypeError('x is undefined'), false],
  ])('classifies %j as transient: %s', (error, isTransient) => {
    expect(toPostgresError(error, 'work')).toMatchObject({
      isTransient,
      message: expect.stringMatching(/^could not work: /),
    })
  })
})
