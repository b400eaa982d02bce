import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { avroFormat, type ParsedAvro } from '../../../../src/formats/avro/avro-format.ts'
import { avroCodec } from '../../../../src/formats/avro/codec.ts'
import { ByteOutput } from '../../../../src/java-compat/avro/byte-output.ts'
import { avroEncoder } from '../../../../src/java-compat/avro/encoder.ts'
import { avroRowWriter } from '../../../../src/java-compat/avro/row-writer.ts'
import { toAvroText } from '../../../../src/java-compat/avro/to-avro.ts'
import {
  type ResultColumn,
  type TypeMapping,
  toResultColumn,
} from '../../../../src/plugins/connectors/postgres/source/result-columns.ts'
import { readColumns } from '../../../../src/plugins/connectors/postgres/source/row-columns.ts'
import { parseTimeZone, UTC } from '../../../../src/plugins/connectors/postgres/time-zone.ts'
import { DataError, type RowBatch, type Schema, toSourceRecord } from '../../../../src/sdk/index.ts'
import { anyCharacter } from '../../../support/any-character.ts'
import { type Cell, dataRows } from '../../../support/data-rows.ts'
import { propertyRuns } from '../../../support/property-seed.ts'

const BERLIN = parseTimeZone('Europe/Berlin')
const AVRO_OPTIONS = { metadata: true, enums: false, scrub: false, keepNulls: false }

/** A type of a column, and texts of its values. */
type Type = { readonly name: string | undefined; readonly modifier?: number; readonly texts: fc.Arbitrary<string> }

const numericModifier = (precision: number, scale: number) => ((precision << 16) | (scale & 0x7ff)) + 4
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)
const int = fc.integer().map(String)
const double = fc.oneof(
  fc.double().map(String),
  fc.constantFrom('NaN', 'Infinity', '-Infinity', '-0', '0', '1e+308', '1.5'),
)
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 20 })
const decimalText = fc
  .tuple(fc.constantFrom('', '-'), digits, fc.constantFrom('', '.'), digits)
  .map((parts) => parts.join(''))
const two = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'))
const day = fc
  .tuple(
    fc.integer({ min: 0, max: 11_000 }).map((year) => String(year).padStart(4, '0')),
    two(13),
    two(32),
  )
  .map((parts) => parts.join('-'))
const clock = fc.tuple(two(24), two(60), two(60)).map((parts) => parts.join(':'))
const fraction = fc.oneof(
  fc.constant(''),
  digits.map((text) => `.${text.slice(0, 7)}`),
)
const timestamp = fc
  .tuple(day, fc.constant(' '), clock, fraction, fc.constantFrom('', '+00', '+02', '-03:30', ' BC', '+00 BC'))
  .map((parts) => parts.join(''))
const time = fc.oneof(
  timestamp,
  fc.constantFrom('infinity', '-infinity', '2026-03-29 02:30:00', '2026-10-25 02:30:00.1'),
)
const text = fc.string({ unit: anyCharacter, maxLength: 40 }).map((value) => value.replaceAll('\0', ''))

const TYPES: readonly Type[] = [
  { name: 'bool', texts: fc.constantFrom('t', 'f') },
  { name: 'bit', modifier: 1, texts: fc.constantFrom('0', '1') },
  { name: 'int2', texts: fc.integer({ min: -32_768, max: 32_767 }).map(String) },
  { name: 'int4', texts: int },
  { name: 'int8', texts: int64 },
  { name: 'oid', texts: fc.nat().map(String) },
  { name: 'float4', texts: double },
  { name: 'float8', texts: double },
  { name: 'money', texts: fc.constantFrom('$1,234.50', '-$0.05') },
  { name: 'numeric', texts: fc.oneof(decimalText, fc.constantFrom('NaN', 'Infinity', '')) },
  ...[
    [12, 2],
    [30, 10],
    [5, 0],
    [2, 0],
    [9, 0],
    [18, 0],
    [4, -2],
  ].map(([precision, scale]) => ({
    name: 'numeric',
    modifier: numericModifier(precision!, scale!),
    texts: fc.oneof(decimalText, int, fc.constant('NaN')),
  })),
  { name: 'date', texts: fc.oneof(day, fc.constantFrom('infinity', '0044-03-15 BC')) },
  { name: 'time', texts: clock },
  { name: 'timestamp', texts: time },
  { name: 'timestamptz', texts: time },
  { name: 'bytea', texts: fc.uint8Array().map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`) },
  { name: 'uuid', texts: fc.uuid() },
  { name: 'text', texts: text },
  { name: 'jsonb', texts: fc.json() },
  { name: undefined, texts: text },
]

const mapping: fc.Arbitrary<TypeMapping> = fc.record({
  numeric: fc.constantFrom('none', 'precision_only', 'best_fit', 'best_fit_eager_double'),
  granularity: fc.constantFrom(
    'connect_logical',
    'micros_long',
    'micros_string',
    'micros_iso_datetime_string',
    'nanos_long',
  ),
  zone: fc.constantFrom(UTC, BERLIN),
})

/** Mostly values of the type; also NULL, the texts of other types and bytes that are no text. */
const cellOf = (type: Type): fc.Arbitrary<Cell> =>
  fc.oneof(
    { weight: 20, arbitrary: type.texts },
    { weight: 3, arbitrary: fc.constant(null) },
    {
      weight: 1,
      arbitrary: fc.oneof(...TYPES.map(({ texts }) => texts), fc.constantFrom('', '-', '.', '-.', '+1', '0x1')),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)) },
  )

const table = fc
  .tuple(mapping, fc.array(fc.tuple(fc.constantFrom(...TYPES), fc.boolean()), { minLength: 1, maxLength: 4 }))
  .chain(([mapped, types]) =>
    fc.record({
      columns: fc.constant(types.map(([type, notNull], index) => columnOf(type, `c${index}`, notNull, mapped))),
      rows: fc.array(fc.tuple(...types.map(([type]) => cellOf(type))), { minLength: 1, maxLength: 8 }),
    }),
  )

function columnOf(type: Type, name: string, notNull: boolean, mapped: TypeMapping): ResultColumn {
  const field = { name, typeId: 0, modifier: type.modifier ?? -1, tableId: 0, columnId: 0 }
  return toResultColumn(field, { name: type.name, notNull }, mapped)
}

const plainMapping: TypeMapping = { numeric: 'none', granularity: 'connect_logical', zone: UTC }

function batchOf(columns: readonly ResultColumn[], rows: readonly (readonly Cell[])[]) {
  const read = readColumns(dataRows(rows), columns)
  const valueSchema: Schema = {
    type: 'struct',
    name: 'Row',
    fields: columns.map(({ name, schema }) => ({ name, schema })),
  }
  const batch: RowBatch = {
    topic: 't',
    valueSchema,
    length: rows.length,
    columns: read.columns,
    sourcePartition: {},
    offsetOf: (row) => ({ row }),
  }
  return { batch, rejected: read.rejected }
}

/** Converts the texts of a row to its value. If a cell cannot be converted, returns its column and the error instead. */
function expectedOf(columns: readonly ResultColumn[], row: readonly Cell[]) {
  const value: Record<string, unknown> = {}
  for (const [index, column] of columns.entries()) {
    try {
      const cell = row[index]!
      value[column.name] = cell === null ? null : column.read(cell.toString())
    } catch (error) {
      if (!(error instanceof DataError)) return { unexpected: error }
      return { column, message: error.message }
    }
  }
  return { value }
}

function encodings(schema: Schema) {
  const avro = (avroFormat.parse({ text: toAvroText(schema, AVRO_OPTIONS) }, { validation: 'strict' }) as ParsedAvro)
    .schema
  const codec = avroCodec(avro)
  const encode = avroEncoder(schema, avro, AVRO_OPTIONS)
  const writeRow = avroRowWriter(schema, avro, AVRO_OPTIONS)!
  return {
    direct(batch: RowBatch, row: number): string | undefined {
      const output = new ByteOutput()
      return writeRow(output, batch, row) ? output.take().toString('hex') : undefined
    },
    byCodec(value: unknown): string | undefined {
      try {
        return Buffer.from(codec.encode(encode(value))).toString('hex')
      } catch {
        return undefined
      }
    },
  }
}

describe('the columns of rows', () => {
  it('have the values and the errors of their texts, and the bytes of these values in Avro', { tags: ['slow'] }, () => {
    fc.assert(
      fc.property(table, ({ columns, rows }) => {
        const expected = rows.map((row) => expectedOf(columns, row))
        fc.pre(expected.every((row) => !('unexpected' in row)))
        const { batch, rejected } = batchOf(columns, rows)
        expect(rejected.map(({ row, column, error }) => [row, column.name, error.message])).toEqual(
          expected.flatMap(({ column, message }, row) => (column ? [[row, column.name, message]] : [])),
        )
        const { direct, byCodec } = encodings(batch.valueSchema)
        for (const [row, { value }] of expected.entries()) {
          if (value === undefined) continue
          const record = toSourceRecord(batch, row)
          expect(record.value).toEqual(value)
          expect(record.sourceOffset).toEqual({ row })
          const bytes = direct(batch, row)
          if (bytes !== undefined) expect(bytes).toBe(byCodec(value))
        }
      }),
      { numRuns: propertyRuns(1_500) },
    )
  })

  it.each(TYPES.filter(({ name }) => name !== 'numeric'))('are written directly for values of $name', (type) => {
    const columns = [columnOf(type, 'c', false, plainMapping)]
    fc.assert(
      fc.property(type.texts, (value) => {
        const { batch, rejected } = batchOf(columns, [[value], [null]])
        fc.pre(rejected.length === 0)
        const { direct, byCodec } = encodings(batch.valueSchema)
        const values = [0, 1].map((row) => toSourceRecord(batch, row).value)
        expect([direct(batch, 0), direct(batch, 1)]).toEqual(values.map(byCodec))
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it.each([
    ['int4', '42'],
    ['int8', '-999999999999999'],
    ['float8', '-12.5'],
    ['bool', 'f'],
    ['date', '2026-11-24'],
    ['timestamptz', '2026-11-24 12:00:00.000001+00'],
    ['timestamp', '2026-11-24 12:00:00'],
  ])('are numbers for the usual text of %s', (name, usual) => {
    const { batch } = batchOf([columnOf({ name, texts: text }, 'c', true, plainMapping)], [[usual]])
    expect(batch.columns).toMatchObject([{ kind: 'numbers', others: new Map() }])
  })

  it.each(['-0.05', '9999999999.99', '0.00', '12'])('are numbers for the numeric(12, 2) %s', (usual) => {
    const type = { name: 'numeric', modifier: numericModifier(12, 2), texts: text }
    const { batch } = batchOf([columnOf(type, 'c', true, plainMapping)], [[usual]])
    expect(batch.columns).toMatchObject([{ kind: 'numbers', others: new Map() }])
  })

  it('are members of the value also for a column named __proto__', () => {
    const columns = [columnOf({ name: 'text', texts: text }, '__proto__', true, plainMapping)]
    const { batch } = batchOf(columns, [['a'], ['b']])
    const { direct, byCodec } = encodings(batch.valueSchema)
    const { value } = toSourceRecord(batch, 1)
    expect(JSON.stringify(value)).toBe('{"__proto__":"b"}')
    expect(byCodec(value)).toBe(direct(batch, 1))
  })

  it('are ranges of bytes for texts of any length, unless one of the cells is not valid UTF-8', () => {
    const columns = [columnOf({ name: 'text', texts: text }, 'c', true, plainMapping)]
    const valid = ['', 'é', '𝄞'.repeat(20_000), 'x'.repeat(300_000)]
    expect(
      batchOf(
        columns,
        valid.map((cell) => [cell]),
      ).batch.columns[0]!.kind,
    ).toBe('texts')
    // The first byte of a character, whose second byte is the length of the next cell.
    const cut = [[Buffer.from([0xc3])], ['x'.repeat(0xa9)]]
    const { batch } = batchOf(columns, cut)
    expect(batch.columns[0]!.kind).toBe('values')
    expect((toSourceRecord(batch, 0).value as { c: string }).c).toBe('\ufffd')
  })
})
