import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  parseTableName,
  parseTableNames,
  quotedTable,
  quoting,
} from '../../../../src/plugins/connectors/jdbc/identifier.ts'
import {
  isoFromMicros,
  microsFromText,
  textFromDate,
  textFromMicros,
  textFromTime,
  timeFromText,
} from '../../../../src/plugins/connectors/jdbc/time-text.ts'
import { parseTimeZone, UTC } from '../../../../src/plugins/connectors/jdbc/time-zone.ts'
import { itemsFromText, textFromItems } from '../../../../src/plugins/connectors/postgres/array-text.ts'

const berlin = parseTimeZone('Europe/Berlin')

describe('timestamp texts', () => {
  it('are parsed back to the same time in every zone', () => {
    const micros = fc.integer({ min: -9 * 10 ** 15, max: 9 * 10 ** 15 })
    fc.assert(
      fc.property(micros, fc.constantFrom(UTC, berlin, parseTimeZone('-03:30')), (at, zone) => {
        expect(microsFromText(textFromMicros(at, zone), UTC)).toBe(at)
      }),
    )
  })

  it("are parsed in PostgreSQL's output format, with and without an offset", () => {
    const micros = fc.integer({ min: -62_000_000_000 * 10 ** 6, max: 9 * 10 ** 15 })
    fc.assert(
      fc.property(
        fc.oneof(
          micros,
          micros.map((at) => at - (at % 10_000)),
        ),
        (at) => {
          const [clock] = textFromMicros(at, UTC).split('+')
          const shown = clock!.replace(/\.?0*$/, '')
          expect(microsFromText(shown.length < 19 ? clock! : shown, UTC)).toBe(at)
          expect(microsFromText(`${clock}+00`, berlin)).toBe(at)
        },
      ),
    )
  })

  it.each([
    '2026-01-02 03:04',
    '2026-01-02T03:04:05',
    '2026-01-02 03:04:0x',
    '2026-01-02 03:04:05.',
    '2026-01-02 03:04:05.1234567',
    '2026-01-02 03:04:05+0',
    '2026-01-02 03:04:05.x+00',
    '2026-01-02 03-04:05',
  ])('are rejected if they are malformed: %s', (text) => {
    expect(() => microsFromText(text, UTC)).toThrow(`'${text}' is not a timestamp`)
  })

  it('are local times of the zone, before and after the start of daylight saving time', () => {
    expect(microsFromText('2026-03-29 01:59:59', berlin)).toBe(Date.UTC(2026, 2, 29, 0, 59, 59) * 1000)
    expect(microsFromText('2026-03-29 03:00:00', berlin)).toBe(Date.UTC(2026, 2, 29, 1) * 1000)
    expect(textFromMicros(Date.UTC(2026, 6, 1) * 1000 + 5, berlin)).toBe('2026-07-01 02:00:00.000005+02:00:00')
    expect(isoFromMicros(Date.UTC(2026, 0, 1) * 1000 - 1, UTC)).toBe('2025-12-31T23:59:59.999999')
  })

  it('can have an offset, an era, and infinity', () => {
    expect(microsFromText('2026-01-01 00:00:00-03:30', berlin)).toBe(Date.UTC(2026, 0, 1, 3, 30) * 1000)
    expect(microsFromText('0001-01-01 00:00:00 BC', UTC)).toBe(Date.parse('0000-01-01') * 1000)
    expect(textFromMicros(Date.parse('0000-01-01') * 1000, UTC)).toBe('0001-01-01 00:00:00.000000+00:00:00 BC')
    expect(textFromMicros(microsFromText('-infinity', UTC), UTC)).toBe('-infinity')
    expect(() => microsFromText('yesterday', UTC)).toThrow("'yesterday' is not a timestamp")
  })

  it('are formatted as a date or as a time of day', () => {
    expect(textFromDate(new Date('2026-12-31T23:30Z'), berlin)).toBe('2027-01-01')
    expect(textFromTime(timeFromText('04:05:06.7891'))).toBe('04:05:06.789')
  })
})

describe('parseTimeZone', () => {
  it('rejects an unknown zone', () => {
    expect(() => parseTimeZone('Middle/Earth')).toThrow("'Middle/Earth' is not a time zone")
  })
})

describe('array texts', () => {
  it('are parsed back to the same items', () => {
    fc.assert(
      fc.property(fc.array(fc.option(fc.string())), (items) => {
        expect(itemsFromText(textFromItems(items))).toEqual(items)
      }),
    )
  })

  it('may have items of many megabytes', () => {
    const item = 'a b '.repeat(2_200_000)
    expect(itemsFromText(textFromItems([item]))[0] === item).toBe(true)
  })

  it('are rejected if the closing quote of an item is missing', () => {
    expect(() => itemsFromText('{"a')).toThrow('ends within a quoted item')
  })

  it('can start at any index, but must have one dimension', () => {
    expect(itemsFromText('[0:1]={a,b}')).toEqual(['a', 'b'])
    expect(() => itemsFromText('{{1},{2}}')).toThrow('a multidimensional array has no Connect schema')
  })
})

describe('quoting', () => {
  it('quotes each name that is not an identifier, because it would change the SQL statement', () => {
    const names = ['plain', 'Größe_2', 'a$', 'two words', 'order-items', '1st', '', 'x int); DROP TABLE t; --', 'a"b']
    expect(names.map(quoting('never'))).toEqual([
      ...['plain', 'Größe_2', 'a$', '"two words"', '"order-items"', '"1st"', '""'],
      ...['"x int); DROP TABLE t; --"', '"a""b"'],
    ])
    expect(quoting('always')('plain')).toBe('"plain"')
  })
})

describe('parseTableName', () => {
  it.each([
    ['orders', { schema: undefined, name: 'orders' }],
    ['shop.orders', { schema: 'shop', name: 'orders' }],
    ['db.shop.orders', { schema: 'shop', name: 'orders' }],
    ['"my.shop"."the ""best"""', { schema: 'my.shop', name: 'the "best"' }],
  ])('parses %s', (text, expected) => {
    expect(parseTableName(text)).toEqual(expected)
  })

  it.each(['', 'a.', '.a', 'a.b.c.d', 'a"b', '"a'])("rejects '%s'", (text) => {
    expect(() => parseTableName(text)).toThrow('is not the name of a table')
  })

  it('parses a list of quoted names', () => {
    const tables = [
      { schema: 'a,b', name: 'c"d' },
      { schema: 'x.y', name: 'z' },
    ]
    expect(parseTableNames(tables.map((table) => quotedTable(table)).join(','))).toEqual(tables)
  })
})
