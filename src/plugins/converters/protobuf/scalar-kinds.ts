import type { ScalarType } from '@bufbuild/protobuf'
import { dateFromMs } from '../../../java-compat/date-from-ms.ts'
import {
  bigintFromBytes,
  bigintToBytes,
  DATE,
  DataError,
  type Decimal,
  decimal,
  type IntegerType,
  int64,
  isInteger,
  LOGICAL,
  rescale,
  type Schema,
  TIME,
  TIMESTAMP,
  valueLabel,
} from '../../../sdk/index.ts'
import type { ProtobufFieldMeta } from './field-meta.ts'
import { MESSAGE, PROTOBUF_PRECISION, TYPE } from './names.ts'

/** A Connect schema with the conversions from and to Protobuf. The conversions are never called with null. */
export type Kind = {
  readonly schema: Schema
  readonly read: (wire: unknown) => unknown
  readonly write: (value: unknown) => unknown
}

const asItIs = (value: unknown) => value
const toBigint = (value: unknown) =>
  typeof value === 'bigint' || Number.isInteger(value) ? BigInt(value as number) : refuse(value, 'an integer')
export const kindOf = (type: Schema['type']): Kind => ({ schema: { type }, read: asItIs, write: asItIs })
/** Rejects numbers out of range in both directions; Java truncates them to the low bits. */
export function integerKind(type: IntegerType): Kind {
  const check = (value: unknown) => (isInteger(type, value) ? Number(value) : refuse(value, type))
  return { schema: { type }, read: check, write: check }
}
const INT64_KIND: Kind = { schema: { type: 'int64' }, read: (wire) => int64(wire as bigint), write: toBigint }
const UNSIGNED_KIND: Kind = {
  schema: { type: 'int64' },
  read: (wire) => int64(BigInt.asIntN(64, wire as bigint)),
  write: (value) => BigInt.asUintN(64, toBigint(value)),
}
const BYTES_KIND: Kind = {
  ...kindOf('bytes'),
  read: (wire) => Buffer.from(wire as Uint8Array),
}

const SCALARS: Readonly<Record<ScalarType, Kind>> = {
  1: kindOf('float64'),
  2: kindOf('float32'),
  3: INT64_KIND,
  4: of(UNSIGNED_KIND, 'uint64'),
  5: integerKind('int32'),
  6: of(UNSIGNED_KIND, 'fixed64'),
  7: of(kindOf('int64'), 'fixed32'),
  8: kindOf('boolean'),
  9: kindOf('string'),
  12: BYTES_KIND,
  13: of(kindOf('int64'), 'uint32'),
  15: of(integerKind('int32'), 'sfixed32'),
  16: of(INT64_KIND, 'sfixed64'),
  17: of(integerKind('int32'), 'sint32'),
  18: of(INT64_KIND, 'sint64'),
}

/** Adds the name of the Protobuf type as a parameter, for types that Connect does not distinguish. */
function of(kind: Kind, word: string): Kind {
  return { ...kind, schema: { ...kind.schema, parameters: { [TYPE]: word } } }
}

/** Scalar kinds by the type numbers used in descriptors. */
export function scalarKind(scalar: ScalarType): Kind {
  return SCALARS[scalar]
}

const DAY_MS = 86_400_000

export const LOGICAL_KINDS: Readonly<Record<string, Kind>> = {
  [MESSAGE.timestamp]: {
    schema: TIMESTAMP,
    read: (wire) => {
      const { seconds, nanos } = wire as { seconds: bigint; nanos: number }
      return dateFromMs(Number(seconds) * 1_000 + Math.trunc(nanos / 1_000_000))
    },
    write: (value) => {
      const ms = dateOf(value).getTime()
      const seconds = Math.floor(ms / 1_000)
      return { seconds: BigInt(seconds), nanos: (ms - seconds * 1_000) * 1_000_000 }
    },
  },
  [MESSAGE.date]: {
    schema: DATE,
    read: (wire) => {
      const { year, month, day } = wire as { year: number; month: number; day: number }
      return dateFromMs(new Date(0).setUTCFullYear(year, month - 1, day))
    },
    write: (value) => {
      const date = new Date(Math.floor(dateOf(value).getTime() / DAY_MS) * DAY_MS)
      return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
    },
  },
  [MESSAGE.time]: {
    schema: TIME,
    read: (wire) => {
      const { hours, minutes, seconds, nanos } = wire as Record<'hours' | 'minutes' | 'seconds' | 'nanos', number>
      return ((hours * 60 + minutes) * 60 + seconds) * 1_000 + Math.trunc(nanos / 1_000_000)
    },
    write: (value) => {
      const ms = value as number
      const [hours, minutes] = [Math.trunc(ms / 3_600_000), Math.trunc(ms / 60_000) % 60]
      return { hours, minutes, seconds: Math.trunc(ms / 1_000) % 60, nanos: (ms % 1_000) * 1_000_000 }
    },
  },
}

function dateOf(value: unknown): Date {
  return value instanceof Date ? value : refuse(value, LOGICAL.timestamp)
}

/** In Protobuf each decimal has its own scale; in Connect the scale is part of the schema. */
export function decimalKind({ scale: scaleText = '0', precision }: ProtobufFieldMeta): Kind {
  const scale = Number(scaleText)
  const { parameters, ...schema } = decimal(scale)
  return {
    schema: {
      ...schema,
      parameters: { ...parameters, ...(precision !== undefined && { [PROTOBUF_PRECISION]: precision }) },
    },
    read: (wire) => {
      const { value, scale: own } = wire as { value: Uint8Array; scale: number }
      return rescale({ unscaled: bigintFromBytes(value), scale: own }, scale)
    },
    write: (value) => {
      const { unscaled, scale: own } = value as Decimal
      return { value: bigintToBytes(unscaled), precision: String(unscaled).replace('-', '').length, scale: own }
    },
  }
}

export function misfit(value: unknown, wanted: string): DataError {
  return new DataError(`expected ${wanted}, got ${valueLabel(value)}`)
}

export function refuse(value: unknown, wanted: string): never {
  throw misfit(value, wanted)
}
