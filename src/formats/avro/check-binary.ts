import type { AvroSchema } from './avro-schema.ts'

/** Moves the cursor past one value. Throws a `RangeError` for bytes that are not a value of the schema. */
type Skip = (bytes: Cursor) => void

/**
 * How many more values than bytes there can be. Values of null, of an empty record and of a fixed without bytes
 * have no bytes, so their number is not limited by the length of the data.
 */
const VALUES_WITHOUT_BYTES_MAX = 65_536

/**
 * Returns a function that throws a `RangeError` unless the bytes are exactly one value of the schema. avsc reads beyond
 * the end of the bytes and reports that only after the last value: a damaged count of an array would take all memory or
 * hours, and a damaged size of a skipped block would be an infinite loop.
 */
export function binaryCheck(schema: AvroSchema): (bytes: Uint8Array) => void {
  const skip = skipOf(schema, new Map())
  return (bytes) => {
    const cursor = new Cursor(bytes)
    skip(cursor)
    if (cursor.left > 0) throw new RangeError('trailing data')
  }
}

class Cursor {
  at = 0
  readonly #bytes: Uint8Array
  #withoutBytes = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get left(): number {
    return this.#bytes.length - this.at
  }

  byte(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw new RangeError('truncated data')
    return byte
  }

  skip(length: number): void {
    if (length < 0) throw new RangeError(`a length is negative: ${length}`)
    if (length > this.left) throw new RangeError('truncated data')
    this.at += length
  }

  /** A zigzag varint with at most `bits` bits. The result is exact up to 2^53. */
  varint(bits: 32 | 64): number {
    let byte = this.byte()
    const isNegative = (byte & 1) === 1
    let value = byte & 127
    let shift = 7
    for (let factor = 128; byte >= 128; factor *= 128, shift += 7) {
      byte = this.byte()
      if (shift + 7 > bits && byte >= 2 ** (bits - shift)) throw new RangeError(`a number has more than ${bits} bits`)
      value += (byte & 127) * factor
    }
    return isNegative ? -Math.floor(value / 2) - 1 : Math.floor(value / 2)
  }

  valueWithoutBytes(): void {
    this.#withoutBytes += 1
    if (this.#withoutBytes > this.#bytes.length + VALUES_WITHOUT_BYTES_MAX)
      throw new RangeError('too many values that have no bytes')
  }
}

const SCALARS = {
  null: (bytes) => bytes.valueWithoutBytes(),
  boolean: (bytes) => {
    if (bytes.byte() > 1) throw new RangeError('a boolean is neither 0 nor 1')
  },
  int: (bytes) => void bytes.varint(32),
  long: (bytes) => void bytes.varint(64),
  float: (bytes) => bytes.skip(4),
  double: (bytes) => bytes.skip(8),
  bytes: (bytes) => bytes.skip(bytes.varint(64)),
  string: (bytes) => bytes.skip(bytes.varint(64)),
} as const satisfies Record<string, Skip>

/** `known` has the records of the schema, which can contain themselves. */
function skipOf(schema: AvroSchema, known: Map<AvroSchema, Skip>): Skip {
  switch (schema.type) {
    case 'record':
      return known.get(schema) ?? skipRecord(schema, known)
    case 'enum':
      return (bytes) => void indexBelow(schema.symbols.length, bytes)
    case 'fixed':
      return schema.size === 0 ? SCALARS.null : (bytes) => bytes.skip(schema.size)
    case 'array':
      return skipBlocks(skipOf(schema.items, known))
    case 'map': {
      const skipValue = skipOf(schema.values, known)
      return skipBlocks((bytes) => {
        SCALARS.string(bytes)
        skipValue(bytes)
      })
    }
    case 'union': {
      const branches = schema.branches.map((branch) => (branch.type === 'null' ? () => {} : skipOf(branch, known)))
      return (bytes) => branches[indexBelow(branches.length, bytes)]?.(bytes)
    }
    default:
      return SCALARS[schema.type]
  }
}

function skipRecord(schema: AvroSchema & { readonly type: 'record' }, known: Map<AvroSchema, Skip>): Skip {
  const fields: Skip[] = []
  const skip: Skip =
    schema.fields.length === 0
      ? SCALARS.null
      : (bytes) => {
          for (let index = 0; index < fields.length; index++) fields[index]?.(bytes)
        }
  known.set(schema, skip)
  for (const field of schema.fields) fields.push(skipOf(field.schema, known))
  return skip
}

/** A negative count is followed by the size of the block in bytes. */
function skipBlocks(skipItem: Skip): Skip {
  return (bytes) => {
    for (let count = bytes.varint(64); count !== 0; count = bytes.varint(64)) {
      const size = count < 0 ? bytes.varint(64) : undefined
      const start = bytes.at
      for (let left = Math.abs(count); left > 0; left--) skipItem(bytes)
      if (size !== undefined && bytes.at - start !== size)
        throw new RangeError('a block has another size than it claims')
    }
  }
}

function indexBelow(limit: number, bytes: Cursor): number {
  const index = bytes.varint(64)
  if (index < 0 || index >= limit) throw new RangeError(`an index of ${index} for ${limit} values`)
  return index
}
