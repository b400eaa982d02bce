import { DataError, type Decimal, isDecimal, LOGICAL, type Schema } from '../sdk/index.ts'
import { inferType } from './java-class-name.ts'
import { stringHashCode } from './string-hash-code.ts'

/** The `hashCode` of a value as Kafka Connect has it in Java. Throws a `DataError` for structs, lists and maps. */
export function javaHashCode(value: unknown, schema: Schema | null): number {
  if (value instanceof Date) return longHash(BigInt(value.getTime()))
  if (isDecimal(value)) return decimalHash(value)
  const type = schema?.type ?? inferType(value)
  if (schema?.name === LOGICAL.time) return longHash(BigInt(value as number))
  switch (type) {
    case 'int8':
    case 'int16':
    case 'int32':
      return value as number
    case 'int64':
      return longHash(BigInt(value as number | bigint))
    case 'float32':
      return floatBits(value as number)
    case 'float64':
      return longHash(doubleBits(value as number))
    case 'boolean':
      return value === true ? 1231 : 1237
    case 'string':
      return stringHashCode(value as string)
    case 'bytes':
      return bufferHash(value as Uint8Array)
    default:
      throw new DataError(`a value of type ${type.toUpperCase()} has no hash code that is equal in Java`)
  }
}

function longHash(value: bigint): number {
  const bits = BigInt.asUintN(64, value)
  return Number(BigInt.asIntN(32, bits ^ (bits >> 32n)))
}

function floatBits(value: number): number {
  const view = new DataView(new ArrayBuffer(4))
  view.setFloat32(0, value)
  return view.getInt32(0)
}

function doubleBits(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  return view.getBigInt64(0)
}

/** `ByteBuffer.hashCode`, because Debezium has bytes as buffers. */
function bufferHash(bytes: Uint8Array): number {
  const signed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return signed.reduceRight((hash, byte) => (Math.imul(hash, 31) + byte) | 0, 1)
}

/** `BigDecimal.hashCode`. */
function decimalHash({ unscaled, scale }: Decimal): number {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString(16)
  const words = digits.padStart(Math.ceil(digits.length / 8) * 8, '0').match(/.{8}/g) ?? []
  const hash = words.reduce((sum, word) => (Math.imul(sum, 31) + Number.parseInt(word, 16)) | 0, 0)
  return (Math.imul(unscaled < 0n ? -hash : hash, 31) + scale) | 0
}
