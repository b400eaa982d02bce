import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { HostConnection } from '../../../src/java/host-connection.ts'
import { hostAddress, JavaHost } from '../../../src/java/java-host.ts'
import {
  array,
  BOOLEAN,
  BYTES,
  DATE,
  decimal,
  FLOAT32,
  FLOAT64,
  INT8,
  INT16,
  INT32,
  INT64,
  int64,
  map,
  optional,
  type Schema,
  STRING,
  TIME,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'

const javaHost = await real('javaHost')
const LOG = { linesPerSecond: 100, bytesPerSecond: 65_536 }

type Data = { readonly schema: Schema | null; readonly value: unknown }
type Typed = { readonly schema: Schema; readonly values: fc.Arbitrary<unknown> }

const integers = (schema: Schema, bits: number): Typed => ({
  schema,
  values: fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 }),
})
const dates = fc.date({ noInvalidDate: true })
const bytes = fc.uint8Array({ maxLength: 40 }).map((value) => Buffer.from(value))
const texts = fc.string({ unit: 'grapheme', maxLength: 100 })

const primitives: readonly Typed[] = [
  integers(INT8, 8),
  integers(INT16, 16),
  integers(INT32, 32),
  { schema: INT64, values: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(int64) },
  { schema: FLOAT32, values: fc.float() },
  { schema: FLOAT64, values: fc.double() },
  { schema: BOOLEAN, values: fc.boolean() },
  { schema: STRING, values: texts },
  { schema: BYTES, values: bytes },
  { schema: DATE, values: dates },
  { schema: TIMESTAMP, values: dates },
  { schema: TIME, values: fc.integer({ min: 0, max: 86_399_999 }) },
  ...[-3, 0, 2, 30].map((scale) => ({
    schema: decimal(scale),
    values: fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }).map((unscaled) => ({ unscaled, scale })),
  })),
]

/** Equal keys of a Java map would be one entry: a float's NaN and zeros, and values that are objects here. */
const keys = primitives.filter(({ schema }) => schema.type === 'string' || schema === INT32 || schema === INT64)

function nested(depth: number): fc.Arbitrary<Typed> {
  const primitive = fc.constantFrom(...primitives)
  if (depth === 0) return primitive
  const inner = nested(depth - 1)
  const lists = inner.map(({ schema, values }) => ({
    schema: array(schema),
    values: fc.array(values, { maxLength: 4 }),
  }))
  const maps = fc.tuple(fc.constantFrom(...keys), inner).map(([key, { schema, values }]) => ({
    schema: map(key.schema, schema),
    values: fc.array(fc.tuple(key.values, values), { maxLength: 4 }).map((entries) => new Map(entries)),
  }))
  return fc.oneof(primitive, inner.map(orNull), lists, maps, structs(inner))
}

function orNull({ schema, values }: Typed): Typed {
  return { schema: optional(schema), values: fc.option(values, { nil: null }) }
}

function structs(inner: fc.Arbitrary<Typed>): fc.Arbitrary<Typed> {
  const about = fc.record({
    name: fc.constantFrom('io.weir.A', 'io.weir.B'),
    version: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
    doc: fc.option(texts, { nil: undefined }),
    parameters: fc.option(fc.dictionary(texts, texts, { minKeys: 1, maxKeys: 2 }), { nil: undefined }),
  })
  const names = fc.uniqueArray(fc.oneof(texts, fc.constantFrom('__proto__', 'constructor', '')), { maxLength: 5 })
  return fc
    .tuple(about, names, fc.array(inner, { minLength: 5, maxLength: 5 }))
    .map(([described, fieldNames, types]) => {
      const fields = fieldNames.map((name, index) => ({ name, schema: types[index]!.schema }))
      const { name, version, doc, parameters } = described
      const schema: Schema = {
        type: 'struct',
        name,
        ...(version !== undefined && { version }),
        ...(doc !== undefined && { doc }),
        ...(parameters !== undefined && { parameters }),
        fields,
      }
      const values = fc
        .tuple(...fieldNames.map((_, index) => types[index]!.values))
        .map((all) => Object.fromEntries(fieldNames.map((fieldName, index) => [fieldName, all[index]])))
      return { schema, values }
    })
}

const withSchema: fc.Arbitrary<Data> = nested(3).chain(({ schema, values }) =>
  values.map((value) => ({ schema, value })),
)
const withoutSchema: fc.Arbitrary<Data> = fc
  .letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      texts,
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      bytes,
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(texts, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  }))
  .value.map((value) => ({ schema: null, value }))

describeOn([javaHost], 'values that cross to a Java host and back', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-values-'))
  let host: JavaHost
  let connection: HostConnection

  beforeAll(async () => {
    const address = hostAddress(directory, 'values')
    host = await JavaHost.start({
      runtime: { home: '', hostDirectory: javaHost.address.directory, heapMax: '256m', options: [], log: LOG },
      location: { path: javaHost.address.jars.file, jars: [javaHost.address.jars.file] },
      address,
      startMsMax: 60_000,
      onLog: () => undefined,
    })
    connection = await HostConnection.open(address, { timeoutMs: 10_000 })
  })

  afterAll(async () => {
    connection.close()
    await host.stop()
    rmSync(directory, { recursive: true })
  })

  async function echo(sent: readonly Data[]): Promise<readonly Data[]> {
    const body = await connection.request('data.echo', (writer) => {
      writer.writeVarint(sent.length)
      for (const { schema, value } of sent) {
        writer.writeSchema(schema)
        writer.writeValue(schema, value)
      }
    })
    return Array.from({ length: body.readCount() }, () => {
      if (body.readByte() !== 0) throw new Error('the host could not echo a value')
      const schema = body.readSchema()
      return { schema, value: body.readValue(schema) }
    })
  }

  it('are unchanged, with their schemas', async () => {
    const batches = fc.array(withSchema, { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(batches, async (sent) => {
        expect(await echo(sent)).toEqual(sent)
      }),
      { numRuns: 200 },
    )
  })

  it('are unchanged without a schema', async () => {
    const batches = fc.array(withoutSchema, { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(batches, async (sent) => {
        expect(await echo(sent)).toEqual(sent)
      }),
      { numRuns: 200 },
    )
  })

  it('keep the default of a schema', async () => {
    const defaults: readonly (readonly [Schema, unknown])[] = [
      [STRING, 'a'],
      [INT64, 2n ** 60n],
      [decimal(2), { unscaled: 12345n, scale: 2 }],
      [TIMESTAMP, new Date(1_700_000_000_000)],
      [TIME, 5],
      [array(INT32), [1, 2]],
      [map(STRING, INT8), new Map([['a', 1]])],
    ]
    const sent = defaults.map(([schema, value]) => ({ schema: { ...schema, default: value }, value }))
    expect(await echo(sent)).toEqual(sent)
  })

  it('keep map keys of any type', async () => {
    const key = { type: 'struct', name: 'Key', fields: [{ name: 'id', schema: INT32 }] } satisfies Schema
    const schema = map(key, map(array(STRING), BOOLEAN))
    const value = new Map([[{ id: 1 }, new Map([[['a', 'b'], true]])]])
    expect(await echo([{ schema, value }])).toEqual([{ schema, value }])
  })

  it('stay valid when more schemas were sent than both sides keep', async () => {
    const kept: Data = { schema: { ...STRING, name: 'kept' }, value: 'kept' }
    for (let round = 0; round < 12; round++) {
      const sent = Array.from({ length: 1_000 }, (_, index) => ({
        schema: { ...INT32, name: `${round}-${index}` },
        value: index,
      }))
      expect(await echo([kept, ...sent])).toEqual([kept, ...sent])
    }
  })

  it('refuse a value that its schema does not allow', async () => {
    await expect(echo([{ schema: STRING, value: 5 }])).rejects.toThrow('expected a value of type string, got number')
    expect(await echo([{ schema: STRING, value: 'still usable' }])).toEqual([{ schema: STRING, value: 'still usable' }])
  })
})
