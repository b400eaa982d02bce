import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { civilFromDays, daysFromCivil } from '../../../../../src/plugins/connectors/cdc/values/epoch.ts'
import { textFromItems } from '../../../../../src/plugins/connectors/postgres/array-text.ts'
import { arrayItems } from '../../../../../src/plugins/connectors/postgres/cdc/values/array-type.ts'
import { ColumnTypes } from '../../../../../src/plugins/connectors/postgres/cdc/values/column-types.ts'
import { TypeCatalog } from '../../../../../src/plugins/connectors/postgres/cdc/values/type-catalog.ts'
import type { ValueSettings } from '../../../../../src/plugins/connectors/postgres/cdc/values/value-settings.ts'
import { bigintFromBytes } from '../../../../../src/sdk/index.ts'
import { propertyRuns } from '../../../../support/property-seed.ts'

type CatalogRow = readonly (string | null)[]

const CATALOG_FILE = join(import.meta.dirname, '../../../../golden/debezium-postgres/catalog.golden.json')
const BUILT_IN = JSON.parse(readFileSync(CATALOG_FILE, 'utf8')) as readonly CatalogRow[]
const idOf = (name: string) => BUILT_IN.find(([, found]) => found === name)![0]!
const base = (id: number, name: string): CatalogRow => [String(id), name, 'b', null, '0', '-1', null]
/** Types of extensions, and types of which Debezium does not write arrays, or does not start. */
const CATALOG = [
  ...BUILT_IN,
  ...['hstore', 'geometry', 'vector', 'halfvec', 'sparsevec'].map((name, at) => base(20_000 + at, name)),
  ['20010', 'mood', 'e', null, '0', '-1', '["sad", "it\'s ok"]'],
  ['20011', 'mood_domain', 'd', null, '20010', '-1', null],
  ['20012', 'price', 'd', null, idOf('numeric'), String(((8 << 16) | 3) + 4), null],
  ['20013', '_mood', 'b', '20010', '0', '-1', null],
  ['20014', '_price', 'b', '20012', '0', '-1', null],
  ['20015', 'point', 'other', null, '0', '-1', null],
] satisfies readonly CatalogRow[]

const SETTINGS: ValueSettings = {
  decimals: 'precise',
  times: 'adaptive',
  intervals: 'numeric',
  hstores: 'map',
  binary: 'bytes',
  moneyDigits: 2,
  includesUnknown: false,
}

function decode(type: string, text: string, settings: Partial<ValueSettings> = {}): unknown {
  const types = new ColumnTypes(new TypeCatalog(CATALOG), { ...SETTINGS, ...settings })
  const typeId = Number(CATALOG.find(([, name]) => name === type)![0])
  const column = { name: 'c', typeId, modifier: -1, isKey: false, isOptional: true, defaultExpression: undefined }
  return types.of(column)!.decode(text)
}

describe('values', () => {
  // Debezium loses these, or writes other ones; test/golden/debezium-postgres has those that are equal.
  it.each([
    [
      '_money',
      '{"$1,234.50",-$0.05}',
      [
        { unscaled: 123_450n, scale: 2 },
        { unscaled: -5n, scale: 2 },
      ],
    ],
    ['_time', '{13:14:15.123456,24:00:00}', [47_655_123_456, 86_400_000_000]],
    ['_timetz', '{23:59:59.000001-00:30}', ['00:29:59.000001Z']],
    ['_date', '{"0044-03-15 BC",2026-11-22}', [-735_160, 20_779]],
    ['_varbit', '{101,NULL}', [Buffer.from([5]), null]],
    ['_xml', '{<a/>}', ['<a/>']],
    ['_interval', '{"1 day -00:00:00.5"}', [86_399_500_000]],
    ['interval', 'infinity', 2n ** 63n - 1n],
    ['int2vector', '1 -2 3', [1, -2, 3]],
    ['oidvector', '', []],
    ['_interval', '{-infinity}', [-(2n ** 63n)]],
    ['_mood', '{sad,"it\'s ok"}', ['sad', "it's ok"]],
    ['_mood', '{sad,NULL}', null],
    ['_price', '{1.500}', [{ unscaled: 1500n, scale: 3 }]],
    ['mood_domain', 'sad', 'sad'],
    ['_int4', '{{{1,2}},{{3,NULL}}}', [1, 2, 3, null]],
    ['_int4', '[-1:0][2:3]={{1,2},{3,4}}', [1, 2, 3, 4]],
    ['money', '-$92,233,720,368,547,758.08', { unscaled: -9_223_372_036_854_775_808n, scale: 2 }],
    ['money', '(1.234,50 €)', { unscaled: -123_450n, scale: 2 }],
    ['money', '¥1,234', { unscaled: 123_400n, scale: 2 }],
    [
      'hstore',
      '"a\\"b"=>"NULL", "c"=>NULL',
      new Map([
        ['a"b', 'NULL'],
        ['c', null],
      ]),
    ],
    ['vector', '[1,-2.5,3e-05]', [1, -2.5, 0.000_03]],
    [
      'sparsevec',
      '{1:1.5,3:2}/5',
      {
        dimensions: 5,
        vector: new Map([
          [1, 1.5],
          [3, 2],
        ]),
      },
    ],
    ['geometry', '0101000020E6100000000000000000F03F0000000000000040', expect.objectContaining({ srid: 4326 })],
    ['geometry', '0101000000000000000000F03F0000000000000040', expect.objectContaining({ srid: null })],
    ['timestamptz', '294276-12-31 23:59:59.999999+00', '+294276-12-31T23:59:59.999999Z'],
    ['timestamptz', '1880-01-01 00:00:00+00:53:28', '1879-12-31T23:06:32.000000Z'],
    ['timestamp', '294276-12-31 23:59:59.999999', 9_224_318_015_999_999_999n],
    ['timestamp', '4714-11-24 00:00:00 BC', -210_866_803_200_000_000n],
    ['date', '5874897-12-31', 2_145_042_905],
    ['date', '4714-11-24 BC', -2_440_588],
  ] as const)('of the type %s, %s, are decoded', (type, text, expected) => {
    expect(decode(type, text)).toEqual(expected)
  })

  it.each(['infinity', '-infinity'])(
    'of interval are written as the text of the server if they are %s, which ISO 8601 cannot express',
    (text) => {
      expect(decode('interval', text, { intervals: 'string' })).toBe(text)
    },
  )

  it.each([
    ['numeric', '1e5'],
    ['date', '22.11.2026'],
    ['timestamp', '2026-11-22'],
    ['time', '1:2'],
    ['interval', 'P1D'],
    ['hstore', '"a"=>"b'],
    ['hstore', '"a"=>b'],
    ['hstore', '"a"=>"b" "c"=>"d"'],
    ['point', '1,2'],
    ['geometry', 'POINT(1 2)'],
    ['_text', '{"a'],
    ['_text', 'a'],
  ])('of the type %s with the invalid text %s are rejected', (type, text) => {
    expect(() => decode(type, text)).toThrow(expect.objectContaining({ code: 'data' }))
  })

  it.each([
    ['123.4500', 2, 12_345n],
    ['100.00', 0, 100n],
    ['0.000', 0, 0n],
    ['1200', 0, 1200n],
  ])('of numeric do not have the zeros at the end of the fraction: %s', (text, scale, unscaled) => {
    const value = decode('numeric', text) as { readonly scale: number; readonly value: Buffer }
    expect([value.scale, bigintFromBytes(value.value)]).toEqual([scale, unscaled])
  })

  it('of numeric keep every other digit', () => {
    const digits = fc.stringMatching(/^-?[1-9][0-9]{0,200}(\.[0-9]{0,99}[1-9])?$/)
    fc.assert(
      fc.property(digits, (text) => {
        const { scale, value } = decode('numeric', text) as { readonly scale: number; readonly value: Buffer }
        const unscaled = bigintFromBytes(value)
        expect(scale).toBe(text.split('.')[1]?.length ?? 0)
        expect(unscaled).toBe(BigInt(text.replace('.', '')))
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it('of arrays have the items that the sink wrote, whatever they contain', () => {
    const item = fc.option(fc.string({ unit: fc.constantFrom(...'a,"\\{} N\n\u{1d11e}'.split('')), maxLength: 8 }))
    fc.assert(
      fc.property(fc.array(item, { maxLength: 6 }), (items) => {
        expect(arrayItems(textFromItems(items))).toEqual(items)
      }),
    )
  })

  it('of hstore may have many megabytes', { tags: ['slow'] }, () => {
    const text = 'a b '.repeat(2_200_000)
    const value = decode('hstore', `"k"=>"${text}", "n"=>NULL`) as ReadonlyMap<string, string>
    expect(value.get('k') === text).toBe(true)
    expect([...value.keys()]).toEqual(['k', 'n'])
  })

  it('of deep and long arrays need no recursion', () => {
    const depth = 100_000
    expect(arrayItems(`${'{'.repeat(depth)}1${'}'.repeat(depth)}`)).toEqual(['1'])
    expect(arrayItems(`{${'NULL,'.repeat(100_000)}x}`)).toHaveLength(100_001)
  })

  it('of dates are counted in the proleptic Gregorian calendar', () => {
    fc.assert(
      fc.property(fc.integer({ min: -2_440_588, max: 100_000_000 }), (days) => {
        const [year, month, day] = civilFromDays(days)
        expect(daysFromCivil(year, month, day)).toBe(days)
        expect(new Date(days * 86_400_000).getUTCDate()).toBe(day)
      }),
    )
  })
})
