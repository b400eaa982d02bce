import avsc from 'avsc'
import { type Codec, SchemaError } from '../format.ts'
import { toAvsc } from './avsc-schema.ts'
import { bigintLong, ExactLong, exactType } from './avsc-types.ts'
import type { AvroSchema } from './schema.ts'

/**
 * Avro's binary form. Values: a long is a number where that is exact, else a bigint; bytes and fixed are a Buffer; records
 * and maps are objects; a union is null or `{ branch: value }` with the branch's full name or word. Logical types are left
 * as what they are made of.
 *
 * With a `reader`, data of `writer` comes out as the reader's schema says: defaults filled in, unknown fields left out.
 * With `unions: 'plain'` the value of a union stands for itself wherever it can only be of one branch.
 *
 * Throws a `SchemaError` when the two don't match.
 */
export function avroCodec(writer: AvroSchema, { reader = writer, unions = 'wrapped' }: AvroCodecOptions = {}): Codec {
  const wrapUnions = unions === 'wrapped' ? true : 'auto'
  const fast = bind(writer, reader, { wrapUnions, registry: { long: new ExactLong() } })
  // Longs beyond 2^52 are rare and slow: the types that carry them are made when the first one comes.
  let exact: Bound | undefined
  const withBigints = () => {
    exact ??= bind(writer, reader, { wrapUnions, registry: { long: bigintLong() } })
    return exact
  }
  return {
    encode: (value) =>
      attempt('the value does not fit its schema', fast.encode, () => withBigints().encode, value as never),
    decode: (bytes) => {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      return attempt('the bytes do not fit their schema', fast.decode, () => withBigints().decode, buffer)
    },
  }
}

export type AvroCodecOptions = { readonly reader?: AvroSchema; readonly unions?: 'wrapped' | 'plain' }

type TypeOptions = { readonly wrapUnions: boolean | 'auto'; readonly registry: Readonly<Record<string, avsc.Type>> }
type Bound = { readonly encode: (value: unknown) => Buffer; readonly decode: (bytes: Buffer) => unknown }

function attempt<In, Out>(what: string, fast: (input: In) => Out, exact: () => (input: In) => Out, input: In): Out {
  try {
    return fast(input)
  } catch {
    try {
      return exact()(input)
    } catch (error) {
      throw new SchemaError(`${what}: ${(error as Error).message}`, { cause: error })
    }
  }
}

function bind(writer: AvroSchema, reader: AvroSchema, { wrapUnions, registry }: TypeOptions): Bound {
  const typeOf = (schema: avsc.Schema) =>
    avsc.Type.forSchema(schema, {
      wrapUnions,
      // By names of types, of which `constructor` may be one.
      registry: Object.assign(Object.create(null), registry),
      typeHook: exactType,
    } as avsc.ForSchemaOptions)
  try {
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
  } catch (error) {
    throw new SchemaError(`no binary form of this schema: ${(error as Error).message}`, { cause: error })
  }
}
