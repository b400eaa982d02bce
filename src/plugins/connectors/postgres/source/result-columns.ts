import { dateFromMs } from '../../../../java-compat/date-from-ms.ts'
import {
  array,
  BOOLEAN,
  BYTES,
  DATE,
  DataError,
  decimal,
  decimalFromText,
  FLOAT32,
  FLOAT64,
  INT8,
  INT16,
  INT32,
  INT64,
  optional,
  STRING,
  TIME,
} from '../../../../sdk/index.ts'
import { readLong } from '../../jdbc/source/read-long.ts'
import type { NumericMapping, ResultColumn, TypeMapping } from '../../jdbc/source/source-database.ts'
import { timestampKind } from '../../jdbc/source/timestamp-granularity.ts'
import { microsFromText, timeFromText } from '../../jdbc/time-text.ts'
import { UTC } from '../../jdbc/time-zone.ts'
import { itemsFromText } from '../array-text.ts'
import { moneyNumber } from '../money-text.ts'
import type { PostgresField } from '../postgres-field.ts'

/** The type of a column, from the server's catalog. */
export type ColumnType = {
  /** Name of a built-in type; undefined for a type defined in this database, such as an enum. */
  readonly name: string | undefined
  /** For an array: the name of its element type, undefined if that is not built-in. */
  readonly items?: { readonly name: string | undefined }
  readonly notNull: boolean
}

type Kind = Pick<ResultColumn, 'schema' | 'read'>

export function toResultColumn(
  { name, modifier }: PostgresField,
  type: ColumnType,
  mapping: TypeMapping,
): ResultColumn {
  const { schema, ...kind } =
    type.items === undefined ? kindOf(type.name, modifier, mapping) : arrayOf(type.items, modifier, mapping)
  const toMicros = (text: string) => microsFromText(text, mapping.zone)
  return { name, schema: type.notNull ? schema : optional(schema), ...kind, toMicros }
}

function arrayOf({ name }: { readonly name: string | undefined }, modifier: number, mapping: TypeMapping): Kind {
  const { schema, read } = kindOf(name, modifier, mapping)
  return {
    schema: array(optional(schema)),
    read: (text) => itemsFromText(text).map((item) => (item === null ? null : read(item))),
  }
}

/**
 * Types without a case here, such as json, uuid, enums, intervals, network addresses and ranges, become strings in
 * PostgreSQL's text format.
 */
function kindOf(name: string | undefined, modifier: number, mapping: TypeMapping): Kind {
  switch (name) {
    case 'numeric':
      return numericKind(modifier, mapping.numeric)
    case 'timestamp':
      return timestampKind(mapping.granularity, (text) => microsFromText(text, mapping.zone), mapping.zone)
    case 'timestamptz':
      return timestampKind(mapping.granularity, (text) => microsFromText(text, UTC), mapping.zone)
    case 'bit':
      return modifier === 1 ? { schema: BOOLEAN, read: (text) => text === '1' } : TEXT
    default:
      return (name === undefined ? undefined : KINDS[name]) ?? TEXT
  }
}

const TEXT: Kind = { schema: STRING, read: (text) => text }
const INTEGER: Kind = { schema: INT32, read: Number }

const KINDS: Readonly<Record<string, Kind>> = {
  bool: { schema: BOOLEAN, read: (text) => text === 't' },
  int2: { schema: INT16, read: Number },
  int4: INTEGER,
  int8: { schema: INT64, read: readLong },
  oid: { schema: INT64, read: Number },
  float4: { schema: FLOAT32, read: Number },
  float8: { schema: FLOAT64, read: Number },
  money: { schema: FLOAT64, read: (text) => Number(moneyNumber(text)) },
  date: { schema: DATE, read: (text) => dateFromMs(microsFromText(text, UTC) / 1000) },
  time: { schema: TIME, read: timeFromText },
  timetz: { schema: TIME, read: timeFromText },
  bytea: { schema: BYTES, read: (text) => Buffer.from(text.slice(2), 'hex') },
}

/** Number of decimal digits that always fit in an int64. */
const LONG_DIGITS = 18
/** The scale that the JDBC connector uses for columns without a declared scale. */
const SCALE_UNKNOWN = 127

/**
 * Chooses the type for a `numeric(precision, scale)` as the JDBC connector does. A `numeric` without a precision never
 * becomes an integer; with a `best_fit` mapping it becomes a double, otherwise a decimal.
 */
function numericKind(modifier: number, mapping: NumericMapping): Kind {
  if (modifier < 0) return mapping.startsWith('best_fit') ? floatKind : decimalKind(SCALE_UNKNOWN)
  const precision = ((modifier - 4) >> 16) & 0xffff
  const scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024
  const isLong = precision <= LONG_DIGITS
  switch (mapping) {
    case 'none':
      return decimalKind(scale)
    case 'precision_only':
      return scale === 0 && isLong ? integerKind(precision) : decimalKind(scale)
    case 'best_fit':
      if (!isLong) return decimalKind(scale)
      return scale > 0 ? floatKind : integerKind(precision - scale)
    case 'best_fit_eager_double':
      if (scale > 0) return floatKind
      return isLong ? integerKind(precision - scale) : decimalKind(scale)
  }
}

const floatKind: Kind = { schema: FLOAT64, read: Number }

/** `read` throws a `DataError` for NaN and infinities. */
function decimalKind(scale: number): Kind {
  return {
    schema: decimal(scale),
    read(text) {
      if (text !== 'NaN' && !text.endsWith('Infinity')) return decimalFromText(text, scale)
      throw new DataError(
        `${text} is not a decimal number: set numeric.mapping=best_fit_eager_double, or exclude it by a query`,
      )
    },
  }
}

function integerKind(digits: number): Kind {
  const schema = digits > 9 ? INT64 : digits > 4 ? INT32 : digits > 2 ? INT16 : INT8
  return { schema, read: (text) => (text === 'NaN' ? refuseNan() : readLong(text)) }
}

function refuseNan(): never {
  throw new DataError('NaN is not an integer: set numeric.mapping=best_fit_eager_double, or exclude it by a query')
}
