import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteMethodOf } from '../../../../src/plugins/connectors/postgres/connection-keys.ts'
import { toDatabaseError } from '../../../../src/plugins/connectors/postgres/database-error.ts'
import { quoted } from '../../../../src/plugins/connectors/postgres/identifier.ts'
import { columnsFor } from '../../../../src/plugins/connectors/postgres/source/columns-mapping.ts'
import { postgresSource } from '../../../../src/plugins/connectors/postgres/source/source.ts'
import { type TableQuery, toStatement } from '../../../../src/plugins/connectors/postgres/source/statement.ts'
import {
  earlierPartitions,
  initialOffset,
  parseOffset,
  resumableOffsets,
  toSourceOffset,
} from '../../../../src/plugins/connectors/postgres/source/table-offset.ts'
import { shareOut } from '../../../../src/plugins/connectors/postgres/source/tables.ts'
import { parseTimeZone, UTC } from '../../../../src/plugins/connectors/postgres/time-zone.ts'
import { shippedCatalog } from '../../../../src/plugins/shipped.ts'
import { parseConfig, validateConfig } from '../../../../src/sdk/index.ts'

const GIVEN = { 'connection.url': 'jdbc:postgresql://db/shop', 'topic.prefix': '' }

describe('offsets', () => {
  it('come back as they were stored', () => {
    const micros = fc.option(fc.integer({ min: -(10 ** 15), max: 4 * 10 ** 15 }), { nil: undefined })
    const id = fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: undefined })
    fc.assert(
      fc.property(micros, id, (at, last) => {
        const stored = parseOffset(JSON.parse(JSON.stringify(toSourceOffset({ micros: at, id: last }))))
        expect([stored.micros, stored.id === undefined ? undefined : BigInt(stored.id)]).toEqual([at, last])
      }),
    )
  })

  it('are those of the JDBC connector', () => {
    expect(parseOffset({ incrementing: 7, timestamp: 1_767_225_600_123, timestamp_nanos: 123_456_000 })).toEqual({
      id: 7,
      micros: 1_767_225_600_123_456,
    })
    expect(parseOffset({ timestamp: 1_767_225_600_123 })).toEqual({ micros: 1_767_225_600_123_000 })
    for (const wrong of [{ incrementing: 'x' }, { timestamp: '1' }, { timestamp: 1, timestamp_nanos: -1 }]) {
      expect(() => parseOffset(wrong)).toThrow('of an offset should be')
    }
  })

  it('by timestamp stay before a time of which more rows may come', () => {
    const [a, b, c] = [1, 2, 3].map((micros) => ({ micros }))
    expect(resumableOffsets({}, [1, 1, 2, 3, 3], true)).toEqual([{}, a, b, b, c])
    expect(resumableOffsets({}, [1, 1, 2, 3, 3], false)).toEqual([{}, a, b, b, b])
  })

  it('that nobody could go on from are refused', () => {
    const config = parseConfig(postgresSource.config, { ...GIVEN, mode: 'bulk' })
    const alter = (partition: Record<string, string>, offset: Record<string, string> | null) =>
      postgresSource.alterOffsets!(config, [{ partition, offset }])
    expect(() => alter({ table: 'a' }, null)).not.toThrow()
    expect(() => alter({ file: 'a' }, null)).toThrow("an offset's partition should be")
    expect(() => alter({ query: 'query' }, { incrementing: 'x' })).toThrow("'incrementing' of an offset")
  })
})

describe('the place to begin at', () => {
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
  ])('of %j is %j', async (written, place) => {
    const config = parseConfig(postgresSource.config, { ...GIVEN, ...written })
    expect(await initialOffset(config, async () => 777)).toEqual(place)
  })
})

describe('the keys of Aiven’s connectors', () => {
  it('quote names as those of Confluent’s do', () => {
    const quoting = (written: Record<string, string>) =>
      quoteMethodOf(parseConfig(postgresSource.config, { ...GIVEN, mode: 'bulk', ...written }))
    expect(quoting({})).toBe('always')
    expect(quoting({ 'sql.quote.identifiers': 'false' })).toBe('never')
    expect(quoting({ 'sql.quote.identifiers': 'true', 'quote.sql.identifiers': 'never' })).toBe('always')
  })

  it('are read under Aiven’s class names', () => {
    const catalog = shippedCatalog()
    expect(catalog.find('source', 'io.aiven.connect.jdbc.JdbcSourceConnector')?.class).toBe('PostgresSource')
    expect(catalog.find('sink', 'io.aiven.connect.jdbc.JdbcSinkConnector')?.class).toBe('PostgresSink')
  })

  it('find the offset of a table whose name was not qualified', () => {
    expect(earlierPartitions({ schema: 'public', name: 'T' }, 'shop')).toEqual([
      { protocol: '1', table: 'public.T' },
      { protocol: '1', table: 'shop.public.T' },
      { protocol: '1', table: 'T' },
      { table: 'T' },
    ])
  })
})

describe('queries', () => {
  const table = { table: { schema: 'public', name: 'T' } }
  const origin = (own: Partial<TableQuery>): TableQuery => ({
    from: table,
    timestampColumns: [],
    incrementingColumn: undefined,
    suffix: '',
    ...own,
  })
  const berlin = parseTimeZone('Europe/Berlin')

  it('ask for what is behind the last row', () => {
    const both = origin({ timestampColumns: ['at'], incrementingColumn: 'id' })
    expect(toStatement(both, { micros: 0, id: 5 }, { beforeMicros: 1_000_000 }, quoted, berlin)).toEqual({
      text: 'SELECT * FROM "public"."T" WHERE "at" < $1 AND ("at", "id") > ($2, $3) ORDER BY "at", "id"',
      values: ['1970-01-01 01:00:01.000000+01:00:00', '1970-01-01 01:00:00.000000+01:00:00', '5'],
    })
    expect(toStatement(both, { micros: 0 }, {}, quoted, UTC).text).toContain('WHERE "at" >= $1 ORDER BY')
    const byId = origin({ incrementingColumn: 'id', suffix: 'LIMIT 3' })
    expect(toStatement(byId, { id: 2n ** 60n }, { upToId: '9' }, quoted, UTC)).toEqual({
      text: 'SELECT * FROM "public"."T" WHERE "id" > $1 AND "id" <= $2 ORDER BY "id" LIMIT 3',
      values: [String(2n ** 60n), '9'],
    })
    expect(toStatement(byId, {}, {}, quoted, UTC).text).toBe('SELECT * FROM "public"."T" ORDER BY "id" LIMIT 3')
  })

  it('take the first of several timestamps, and what the user asks', () => {
    const query = origin({ from: { query: 'SELECT 1' }, timestampColumns: ['a', 'b'] })
    expect(toStatement(query, { micros: 0 }, {}, quoted, UTC).text).toBe(
      'SELECT 1 WHERE COALESCE("a", "b") > $1 ORDER BY COALESCE("a", "b")',
    )
    expect(toStatement(origin({}), {}, {}, quoted, UTC)).toEqual({ text: 'SELECT * FROM "public"."T"', values: [] })
  })
})

describe('tables', () => {
  it('are shared out evenly, in their order, and all of them', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 9 }), (items, tasksMax) => {
        const shares = shareOut(items, tasksMax)
        const sizes = shares.map(({ length }) => length)
        expect(shares.flat()).toEqual(items)
        expect(shares.length).toBe(Math.min(items.length, tasksMax))
        expect(Math.max(0, ...sizes) - Math.min(...sizes, Math.max(0, ...sizes))).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('have columns of their own where a mapping says so', () => {
    const mapping = { 'timestamp.columns.mapping': 'public\\.a.*:[x|y],public\\.ab:[z]' }
    const config = parseConfig(postgresSource.config, { ...GIVEN, ...mapping, mode: 'timestamp' })
    const columnsOf = (name: string) =>
      columnsFor(config['timestamp.columns.mapping'], { schema: 'public', name }, 'key')
    expect(columnsOf('a')).toEqual(['x', 'y'])
    expect(() => columnsOf('ab')).toThrow('key: 2 of its expressions match the table public.ab')
  })
})

describe('keys', () => {
  it.each([
    [{ mode: 'timestamp' }, 'timestamp.column.name', 'mode=timestamp needs timestamp.column.name'],
    [{ mode: 'incrementing', query: 'x' }, 'incrementing.column.name', 'with a query needs incrementing.column.name'],
    [{ mode: 'bulk', query: 'x', 'table.whitelist': 'a' }, 'query', 'can not be combined'],
    [{ mode: 'bulk', 'table.whitelist': 'a', 'table.blacklist': 'b' }, 'table.blacklist', 'can not be combined'],
    [{ mode: 'bulk', 'table.exclude.list': 'b' }, 'table.exclude.list', 'needs table.include.list'],
    [{ mode: 'bulk', 'table.types': 'sequence' }, 'table.types', "'sequence' is not one of TABLE"],
    [{ mode: 'bulk', 'db.timezone': 'Nowhere' }, 'db.timezone', "'Nowhere' is no time zone"],
    [
      { mode: 'bulk', 'connection.url': 'jdbc:mysql://x:secret@y/z' },
      'connection.url',
      'is not the address of a PostgreSQL',
    ],
  ])('%j is refused at %s', (written, key, message) => {
    const found = validateConfig(postgresSource.config, { ...GIVEN, ...written }).find(({ name }) => name === key)
    expect(found?.errors).toEqual([expect.stringContaining(message)])
    expect(found?.errors[0]).not.toContain('secret')
  })
})

describe('failures', () => {
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
  ])('%j heals: %s', (error, heals) => {
    expect(toDatabaseError(error, 'work')).toMatchObject({ heals, message: expect.stringMatching(/^could not work: /) })
  })
})
