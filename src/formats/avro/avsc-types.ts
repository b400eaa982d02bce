import avsc from 'avsc'
import { defineMember } from '../define-member.ts'

type Tap = { readLong(): number; writeLong(value: number): void; readString(): string }
type Members = Readonly<Record<string, unknown>>
/** Methods of avsc types that are missing in its type declarations. */
type Hidden = {
  _read(tap: Tap): unknown
  _write(tap: Tap, value: unknown): void
  _check(value: unknown, flags: unknown, hook: unknown): boolean
  _copy(value: unknown, options: unknown): unknown
  _createConstructor(...options: unknown[]): new (...values: unknown[]) => object
  _createWriter(): (tap: Tap, value: unknown) => void
  _createChecker(): (value: unknown, flags: unknown, hook: unknown, path: unknown) => boolean
}

const SUFFIX = '__in_avsc'

/**
 * Returns the name that avsc gets for a field or symbol. avsc keeps these names in plain objects, where inherited names
 * such as `constructor` and `__proto__` already exist: it loses such fields, rejects such symbols and writes invalid
 * data for unknown symbols. Such names get a suffix inside avsc; values outside use the names of the schema.
 */
export function avscName(name: string): string {
  return isInherited(name) ? `${name}${SUFFIX}` : name
}

function schemaName(name: string): string {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name
}

function isInherited(name: string): boolean {
  return name in Object.prototype
}

/** The `typeHook` for avsc: creates the types that this module replaces. Undefined lets avsc create the type. */
export function exactType(schema: avsc.Schema, options: unknown): avsc.Type | undefined {
  if (typeof schema !== 'object' || Array.isArray(schema) || !('type' in schema)) return undefined
  switch (schema.type) {
    case 'map':
      return new ExactMap(schema, options)
    case 'enum':
      return new ExactEnum(schema, options)
    case 'record':
      return hasRenamedField(schema) ? new ExactRecord(schema, options) : undefined
    default:
      return undefined
  }
}

function hasRenamedField(schema: object): boolean {
  const { fields } = schema as { readonly fields: readonly { readonly name: string }[] }
  return fields.some(({ name }) => name.endsWith(SUFFIX))
}

/** A map type that keeps the key `__proto__`, which avsc loses because it assigns map values by key. */
class ExactMap extends avsc.types.MapType {
  _read(tap: Tap): Record<string, unknown> {
    const map: Record<string, unknown> = {}
    for (let left = blockLength(tap); left > 0; left = blockLength(tap)) {
      for (; left > 0; left--) {
        const key = tap.readString()
        defineMember(map, key, this.valuesType._read(tap))
      }
    }
    return map
  }
}

/** Reads the length of a block. A negative length is followed by the size of the block in bytes. */
function blockLength(tap: Tap): number {
  const length = tap.readLong()
  if (length < 0) tap.readLong()
  return Math.abs(length)
}

const EnumBase = avsc.types.EnumType as unknown as new (
  schema: unknown,
  options: unknown,
) => avsc.Type & Hidden & { readonly symbols: readonly string[] }

class ExactEnum extends EnumBase {
  override _read(tap: Tap): unknown {
    return schemaName(super._read(tap) as string)
  }

  override _write(tap: Tap, value: unknown): void {
    super._write(tap, typeof value === 'string' ? avscName(value) : undefined)
  }

  override _check(value: unknown, flags: unknown, hook: unknown): boolean {
    return super._check(typeof value === 'string' ? avscName(value) : undefined, flags, hook)
  }
}

const RecordBase = avsc.types.RecordType as unknown as new (
  schema: unknown,
  options: unknown,
) => avsc.Type & Hidden & { readonly fields: readonly avsc.types.Field[] }

/** An avsc record with other field names outside. avsc generates the code of a record when it creates the type. */
class ExactRecord extends RecordBase {
  override _createConstructor(...options: unknown[]): new (...values: unknown[]) => object {
    const Inner = super._createConstructor(...options)
    const { fields } = this
    return class extends Inner {
      constructor(...values: unknown[]) {
        super(...values)
        for (const { name } of fields) {
          const value = (this as Members)[name]
          // All fields are defined again, to keep their order.
          Reflect.deleteProperty(this, name)
          defineMember(this as Record<string, unknown>, schemaName(name), value)
        }
      }
    }
  }

  override _createWriter(): (tap: Tap, value: unknown) => void {
    const write = super._createWriter()
    return (tap, value) => write(tap, renamed(value))
  }

  override _createChecker(): (value: unknown, flags: unknown, hook: unknown, path: unknown) => boolean {
    const check = super._createChecker()
    return (value, flags, hook, path) => check.call(this, renamed(value), flags, hook, path)
  }

  override _copy(value: unknown, options: unknown): unknown {
    return super._copy(renamed(value), options)
  }
}

/** Converts the own properties of a record's value to avsc's names. */
function renamed(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [avscName(name), member]))
}

/**
 * A long type that throws for values from 2^52. avsc computes the zigzag encoding, twice the value, in a double, and
 * would silently read and write a different number.
 */
export class ExactLong extends avsc.types.LongType {
  _read(tap: Tap): number {
    const value = tap.readLong()
    if (!isDoublyExact(value)) throw new RangeError('the long is beyond 2^52')
    return value
  }

  _write(tap: Tap, value: unknown): void {
    if (!isDoublyExact(value)) throw new TypeError(`not a long, or beyond 2^52: ${String(value)}`)
    tap.writeLong(value)
  }
}

function isDoublyExact(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > -(2 ** 52) && (value as number) < 2 ** 52
}

export function bigintLong(): avsc.Type {
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
