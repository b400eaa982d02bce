import avsc from 'avsc'
import { type Codec, SchemaError } from '../format.ts'
import { toAvsc } from './avsc-schema.ts'
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
    avsc.Type.forSchema(schema, { wrapUnions, registry: { ...registry }, typeHook: exactMap } as avsc.ForSchemaOptions)
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

type Tap = { readLong(): number; writeLong(value: number): void; readString(): string }

/** avsc assigns a map's values by their keys, and an assignment to `__proto__` is lost. */
class ExactMap extends avsc.types.MapType {
  _read(tap: Tap): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    for (let left = blockLength(tap); left > 0; left = blockLength(tap)) {
      for (; left > 0; left--) {
        const key = tap.readString()
        const value: unknown = this.valuesType._read(tap)
        if (key !== '__proto__') map[key] = value
        else Object.defineProperty(map, key, { value, configurable: true, enumerable: true, writable: true })
      }
    }
    return map
  }
}

function exactMap(schema: avsc.Schema, options: unknown): avsc.Type | undefined {
  const isMap = typeof schema === 'object' && !Array.isArray(schema) && 'type' in schema && schema.type === 'map'
  return isMap ? new ExactMap(schema, options) : undefined
}

/** A block of negative length is followed by its size in bytes, for who wants to skip it. */
function blockLength(tap: Tap): number {
  const length = tap.readLong()
  if (length < 0) tap.readLong()
  return Math.abs(length)
}

/**
 * avsc computes a long's zigzag form in a double: twice the value, so it is exact up to 2^52 only. Beyond that avsc would
 * silently read and write another number.
 */
class ExactLong extends avsc.types.LongType {
  _read(tap: Tap): number {
    const value = tap.readLong()
    if (!isDoublyExact(value)) throw new RangeError('a long beyond 2^52')
    return value
  }

  _write(tap: Tap, value: unknown): void {
    if (!isDoublyExact(value)) throw new TypeError(`no long, or one beyond 2^52: ${String(value)}`)
    tap.writeLong(value)
  }
}

function isDoublyExact(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > -(2 ** 52) && (value as number) < 2 ** 52
}

function bigintLong(): avsc.Type {
  return avsc.types.LongType.__with({
    fromBuffer: (bytes: Buffer) => narrowed(bytes.readBigInt64LE()),
    toBuffer: (value: number | bigint) => {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64LE(BigInt(value))
      return bytes
    },
    fromJSON: (value: number) => value,
    toJSON: (value: number | bigint) => Number(value),
    isValid: (value: unknown) =>
      typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value),
    compare: (a: number | bigint, b: number | bigint) => (a < b ? -1 : a > b ? 1 : 0),
  })
}

function narrowed(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
