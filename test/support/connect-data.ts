import fc from 'fast-check'
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
} from '../../src/sdk/index.ts'

/** A value of Connect data with its schema; null for data without a schema. */
export type Data = { readonly schema: Schema | null; readonly value: unknown }
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

/** Random schemas of all types, each with a value. */
export const dataWithSchema: fc.Arbitrary<Data> = nested(3).chain(({ schema, values }) =>
  values.map((value) => ({ schema, value })),
)
/** Values as JSON without a schema has them, and bytes. */
export const dataWithoutSchema: fc.Arbitrary<Data> = fc
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
