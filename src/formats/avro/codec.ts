import avsc from 'avsc'
import type { Codec } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import type { AvroSchema } from './avro-schema.ts'
import { toAvsc } from './avsc-schema.ts'
import { bigintLong, ExactLong, exactType } from './avsc-types.ts'
import { binaryCheck } from './check-binary.ts'

/**
 * Creates a codec for the Avro binary encoding. Values: a long is a number if that is exact, otherwise a bigint; bytes
 * and fixed are a Buffer; records and maps are objects; a union is null or `{ branch: value }` with the full name of a
 * named type or the type name. Logical types are not converted.
 *
 * With a `reader`, decoded data of `writer` is resolved to the reader's schema: defaults are added, unknown fields
 * omitted. With `unions: 'plain'`, a union value is not wrapped if its branch is unambiguous.
 *
 * Throws a `SchemaError` if the two schemas do not match.
 */
export function avroCodec(writer: AvroSchema, { reader = writer, unions = 'wrapped' }: AvroCodecOptions = {}): Codec {
  const wrapUnions = unions === 'wrapped' ? true : 'auto'
  const fast = bind(writer, reader, { wrapUnions, registry: { long: new ExactLong() } })
  // Longs from 2^52 are rare and slow. The types for them are created when the first such value occurs.
  let exact: Bound | undefined
  const check = binaryCheck(writer)
  const withBigints = () => {
    exact ??= bind(writer, reader, { wrapUnions, registry: { long: bigintLong() } })
    return exact
  }
  return {
    encode: (value) =>
      attempt(INVALID_VALUE, () => fastOrExact(fast.encode, () => withBigints().encode, value as never)),
    decode: (bytes) =>
      attempt(INVALID_BYTES, () => {
        check(bytes)
        const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        return fastOrExact(fast.decode, () => withBigints().decode, buffer)
      }),
  }
}

const INVALID_VALUE = 'the value is not valid for its schema'
const INVALID_BYTES = 'the bytes are not valid for their schema'

export type AvroCodecOptions = { readonly reader?: AvroSchema; readonly unions?: 'wrapped' | 'plain' }

type TypeOptions = { readonly wrapUnions: boolean | 'auto'; readonly registry: Readonly<Record<string, avsc.Type>> }
type Bound = { readonly encode: (value: unknown) => Buffer; readonly decode: (bytes: Buffer) => unknown }

function fastOrExact<In, Out>(fast: (input: In) => Out, exact: () => (input: In) => Out, input: In): Out {
  try {
    return fast(input)
  } catch {
    return exact()(input)
  }
}

function bind(writer: AvroSchema, reader: AvroSchema, { wrapUnions, registry }: TypeOptions): Bound {
  const typeOf = (schema: avsc.Schema) =>
    avsc.Type.forSchema(schema, {
      wrapUnions,
      // Without a prototype, because a type can be named `constructor`.
      registry: Object.assign(Object.create(null), registry),
      typeHook: exactType,
    } as avsc.ForSchemaOptions)
  return attempt('the schema cannot be compiled', () => {
    const writing = typeOf(toAvsc(writer))
    if (reader === writer) {
      return { encode: (value) => writing.toBuffer(value), decode: (bytes) => writing.fromBuffer(bytes) as unknown }
    }
    const reading = typeOf(toAvsc(reader, writer))
    const resolver = reading.createResolver(writing)
    return {
      encode: (value) => writing.toBuffer(value),
      decode: (bytes) => reading.fromBuffer(bytes, resolver) as unknown,
    }
  })
}

function attempt<T>(problem: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    throw new SchemaError(`${problem}: ${(error as Error).message}`, { cause: error })
  }
}
