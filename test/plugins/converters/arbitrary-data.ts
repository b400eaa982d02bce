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
} from '../../../src/sdk/index.ts'
import { arbitraryText } from '../../support/arbitrary-text.ts'

/** A schema and values of it. */
export type Typed = { readonly schema: Schema; readonly value: fc.Arbitrary<unknown> }

const DAY_MS = 86_400_000
const whole = (bits: number) => fc.integer({ min: -(2 ** (bits - 1)), max: 2 ** (bits - 1) - 1 })
const anyInt64 = fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(int64))
const anyFloat64 = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)

const scalars: readonly Typed[] = [
  { schema: INT8, value: whole(8) },
  { schema: INT16, value: whole(16) },
  { schema: INT32, value: whole(32) },
  { schema: INT64, value: anyInt64 },
  { schema: FLOAT32, value: fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0) },
  { schema: FLOAT64, value: anyFloat64 },
  { schema: BOOLEAN, value: fc.boolean() },
  { schema: STRING, value: arbitraryText() },
  { schema: BYTES, value: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
  {
    schema: decimal(3),
    value: fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }).map((unscaled) => ({ unscaled, scale: 3 })),
  },
  { schema: DATE, value: fc.integer({ min: -30_000, max: 60_000 }).map((day) => new Date(day * DAY_MS)) },
  { schema: TIME, value: fc.integer({ min: 0, max: DAY_MS - 1 }) },
  { schema: TIMESTAMP, value: fc.date({ noInvalidDate: true }) },
]

const typed = (depth: number): fc.Arbitrary<Typed> =>
  depth === 0
    ? fc.constantFrom(...scalars)
    : fc.oneof(
        { weight: 3, arbitrary: fc.constantFrom(...scalars) },
        { weight: 1, arbitrary: typed(depth - 1).map(asOptional) },
        { weight: 1, arbitrary: typed(depth - 1).map(asArray) },
        { weight: 1, arbitrary: typed(depth - 1).map(asStringMap) },
        { weight: 1, arbitrary: typed(depth - 1).map(asIntMap) },
      )

function asOptional({ schema, value }: Typed): Typed {
  return { schema: optional(schema), value: fc.option(value) }
}

function asArray({ schema, value }: Typed): Typed {
  return { schema: array(schema), value: fc.array(value, { maxLength: 5 }) }
}

function asStringMap({ schema, value }: Typed): Typed {
  const entries = fc.array(fc.tuple(fc.string(), value), { maxLength: 5 })
  return { schema: map(STRING, schema), value: entries.map((pairs) => new Map(pairs)) }
}

function asIntMap({ schema, value }: Typed): Typed {
  const entries = fc.array(fc.tuple(whole(32), value), { maxLength: 5 })
  return { schema: map(INT32, schema), value: entries.map((pairs) => new Map(pairs)) }
}

/** Structs of scalars, lists, maps and structs, with values for each. `value` holds one that fits. */
export const anyStruct: fc.Arbitrary<{ readonly schema: Schema; readonly value: unknown }> = structOf('Outer', 2).chain(
  ({ schema, value }) => value.map((one) => ({ schema, value: one })),
)

function structOf(name: string, depth: number): fc.Arbitrary<Typed> {
  const inner = depth > 1 ? [structOf(`${name}.Inner`, depth - 1)] : []
  const field = fc.tuple(fc.stringMatching(/^[a-z_][a-z0-9_]{0,6}$/), typed(2))
  return fc
    .tuple(fc.uniqueArray(field, { selector: ([key]) => key, minLength: 1, maxLength: 6 }), ...inner)
    .map(([fields, nested]) => {
      const all = nested ? [...fields, ['nested', nested] as const] : fields
      return {
        schema: { type: 'struct', name, fields: all.map(([key, { schema }]) => ({ name: key, schema })) },
        value: fc.record(Object.fromEntries(all.map(([key, { value }]) => [key, value]))).map((one) => ({ ...one })),
      }
    })
}
