import avsc from 'avsc'
import { defineMember } from '../define-member.ts'

type Tap = { writeLong(value: number): void }
/** Methods of avsc types that are missing in its type declarations. */
type Hidden = {
  _write(tap: Tap, value: unknown): void
  _check(value: unknown, flags: unknown, hook: unknown): boolean
  _createWriter(): (tap: Tap, value: unknown) => void
  _createChecker(): (value: unknown, flags: unknown, hook: unknown, path: unknown) => boolean
}
type Constructor<Instance> = new (schema: unknown, options: unknown) => Instance

/** Marks names that only avsc gets. */
export const SUFFIX = '__in_avsc'

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * Returns the name that avsc gets for a field, a symbol or a type. avsc rejects names with letters that are not ASCII. It keeps
 * names in plain objects, where inherited names such as `constructor` and `__proto__` already exist: it loses such fields,
 * rejects such symbols and writes invalid data for unknown symbols. Values outside use the names of the schema.
 */
export function avscName(name: string): string {
  const isPlain = PLAIN_NAME.test(name) && !(name in Object.prototype) && !name.endsWith(SUFFIX)
  return isPlain ? name : `x${Buffer.from(name).toString('hex')}${SUFFIX}`
}

/**
 * The branch names of each union whose values have the form `{ branch: value }`. Without it, avsc would choose the form itself,
 * and differently for longs that are doubles and longs that are bigints.
 */
export const WRAPPED_UNIONS = new WeakMap<object, readonly string[]>()

const { WrappedUnionType, UnwrappedUnionType } = avsc.types as unknown as Readonly<
  Record<'WrappedUnionType' | 'UnwrappedUnionType', Constructor<avsc.Type & { _branchIndices: Record<string, number> }>>
>

/** The `typeHook` for avsc: creates the types that this module replaces. Undefined lets avsc create the type. */
export function exactType(schema: avsc.Schema, options: unknown): avsc.Type | undefined {
  if (typeof schema !== 'object') return undefined
  if (Array.isArray(schema)) return unionType(schema, options)
  if (!('type' in schema)) return undefined
  if (schema.type === 'enum') return new ExactEnum(schema, options)
  return schema.type === 'record' && hasRenamedField(schema) ? new ExactRecord(schema, options) : undefined
}

function unionType(schema: readonly avsc.Schema[], options: unknown): avsc.Type {
  const names = WRAPPED_UNIONS.get(schema)
  if (names === undefined) return new UnwrappedUnionType(schema, options)
  const type = new WrappedUnionType(schema, options)
  for (const name of Object.keys(type._branchIndices)) Reflect.deleteProperty(type._branchIndices, name)
  for (const [index, name] of names.entries()) defineMember(type._branchIndices, name, index)
  return type
}

function hasRenamedField(schema: object): boolean {
  const { fields } = schema as { readonly fields: readonly { readonly name: string }[] }
  return fields.some(({ name }) => name.endsWith(SUFFIX))
}

const EnumBase = avsc.types.EnumType as unknown as Constructor<avsc.Type & Hidden>

class ExactEnum extends EnumBase {
  override _write(tap: Tap, value: unknown): void {
    super._write(tap, typeof value === 'string' ? avscName(value) : undefined)
  }

  override _check(value: unknown, flags: unknown, hook: unknown): boolean {
    return super._check(typeof value === 'string' ? avscName(value) : undefined, flags, hook)
  }
}

const RecordBase = avsc.types.RecordType as unknown as Constructor<avsc.Type & Hidden>

/** An avsc record with other field names outside. avsc generates the code of a record when it creates the type. */
class ExactRecord extends RecordBase {
  override _createWriter(): (tap: Tap, value: unknown) => void {
    const write = super._createWriter()
    return (tap, value) => write(tap, renamed(value))
  }

  override _createChecker(): (value: unknown, flags: unknown, hook: unknown, path: unknown) => boolean {
    const check = super._createChecker()
    return (value, flags, hook, path) => check.call(this, renamed(value), flags, hook, path)
  }
}

/** Converts the own properties of a record's value to avsc's names. */
function renamed(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [avscName(name), member]))
}

/**
 * A long type that throws for values from 2^52. avsc computes the zigzag encoding, twice the value, in a double, and
 * would silently write a different number.
 */
export class ExactLong extends avsc.types.LongType {
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
    toBuffer: (value: number | bigint) => {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64LE(BigInt(value))
      return bytes
    },
    isValid: (value: unknown) =>
      typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value),
    // avsc requires these methods, which encoding does not call.
    fromBuffer: unused,
    fromJSON: unused,
    toJSON: unused,
    compare: unused,
  })
}

function unused(): never {
  throw new Error('avsc only encodes')
}
