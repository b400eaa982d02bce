import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PARQUET_CODECS } from '../../../src/plugins/connectors/object-storage/parquet-codec.ts'
import { parquetFormat } from '../../../src/plugins/connectors/object-storage/parquet-file.ts'
import {
  array,
  BOOLEAN,
  BYTES,
  DATE,
  decimal,
  FLOAT32,
  FLOAT64,
  INT8,
  INT32,
  INT64,
  map,
  optional,
  STRING,
  struct,
  TIME,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { run } from '../../env/process.ts'
import { describeOn, real } from '../../env/real.ts'
import { partDirectory } from '../../env/workspace.ts'
import { SEED } from '../../support/property-seed.ts'

const pyiceberg = await real('pyiceberg')

/** Prints each row as JSON: bytes as hexadecimal, maps as pairs, times as their numbers, and whole numbers as texts. */
const READ = `
import datetime, decimal, json, sys
import pyarrow.parquet
decimal.getcontext().prec = 100
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
def plain(value):
    if value is None or isinstance(value, (bool, str, float)): return value
    if isinstance(value, int): return str(value)
    if isinstance(value, bytes): return value.hex()
    if isinstance(value, decimal.Decimal): return str(int(value.scaleb(3)))
    if isinstance(value, datetime.datetime): return str((value - EPOCH) // datetime.timedelta(milliseconds=1))
    if isinstance(value, datetime.date): return str((value - EPOCH.date()).days)
    if isinstance(value, datetime.time): return str(((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000)
    if isinstance(value, dict): return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value]
for path in sys.argv[1:]:
    print(json.dumps([plain(row) for row in pyarrow.parquet.read_table(path).to_pylist()]))
`

const INNER = struct('Inner', {
  n: INT32,
  texts: optional(array(optional(STRING))),
  byName: optional(map(STRING, optional(struct('Item', { long: optional(INT64) })))),
})
const ROW = struct('shop.Row', {
  tiny: INT8,
  long: INT64,
  single: FLOAT32,
  double: FLOAT64,
  is: BOOLEAN,
  text: STRING,
  bytes: BYTES,
  maybe: optional(STRING),
  amount: optional(decimal(3)),
  day: optional(DATE),
  time: optional(TIME),
  at: optional(TIMESTAMP),
  nested: optional(array(optional(array(INT32)))),
  inner: INNER,
  inners: optional(array(optional(INNER))),
})

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 3 })
const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const inner = fc.record({
  n: fc.integer(),
  texts: maybe(fc.array(maybe(fc.string()), { maxLength: 3 })),
  byName: maybe(fc.array(fc.tuple(fc.string(), maybe(fc.record({ long: maybe(long) }))), { maxLength: 3 })).map(
    (entries) => entries && new Map(entries),
  ),
})
const row = fc.record({
  tiny: fc.integer({ min: -128, max: 127 }),
  long,
  single: fc.float({ noNaN: true, noDefaultInfinity: true }),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
  is: fc.boolean(),
  text: fc.string({ unit: 'grapheme' }),
  bytes: fc.uint8Array({ maxLength: 20 }),
  maybe: maybe(fc.string()),
  amount: maybe(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((unscaled) => ({ unscaled, scale: 3 }))),
  day: maybe(fc.integer({ min: -20_000, max: 40_000 }).map((day) => new Date(day * 86_400_000))),
  time: maybe(fc.integer({ min: 0, max: 86_399_999 })),
  at: maybe(fc.integer({ min: -(10 ** 12), max: 4 * 10 ** 12 }).map((ms) => new Date(ms))),
  nested: maybe(fc.array(maybe(fc.array(fc.integer(), { maxLength: 2 })), { maxLength: 3 })),
  inner,
  inners: maybe(fc.array(maybe(inner), { maxLength: 3 })),
})

/** As the other program prints it. */
function plain(value: unknown, name: string): unknown {
  if (value instanceof Date) return String(name === 'day' ? value.getTime() / 86_400_000 : value.getTime())
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (value instanceof Map) return [...value].map(([key, item]) => [key, plain(item, name)])
  if (Array.isArray(value)) return value.map((item) => plain(item, name))
  if (typeof value === 'object' && value !== null) {
    if ('unscaled' in value) return String(value.unscaled)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, key)]))
  }
  return typeof value === 'bigint' || (typeof value === 'number' && name !== 'single' && name !== 'double')
    ? String(value)
    : value
}

describeOn([pyiceberg], 'a file of Parquet', () => {
  it('is read by another implementation with all types, nested ones too, and with each codec', async () => {
    const directory = partDirectory('parquet')
    const rows = fc.sample(row, { seed: SEED, numRuns: 400 })
    const files = PARQUET_CODECS.map((codec) => {
      const encoder = parquetFormat(codec).open(ROW, 'name')
      const taken = rows.map((value, at) => {
        encoder.add(value, ROW)
        return at % 150 === 149 ? encoder.take() : Buffer.alloc(0)
      })
      const file = join(directory, `${codec}.parquet`)
      writeFileSync(file, Buffer.concat([...taken, encoder.end()]))
      return file
    })
    const env = { PYTHONPATH: pyiceberg.address.packages }
    const { code, stdout, stderr } = await run({ file: 'python3', args: ['-c', READ, ...files], directory, env })
    expect(code, stderr).toBe(0)
    const read = stdout.trimEnd().split('\n')
    expect(read).toHaveLength(files.length)
    const expected = rows.map((value) => plain(value, ''))
    for (const text of read) expect(JSON.parse(text)).toEqual(expected)
  })
})
