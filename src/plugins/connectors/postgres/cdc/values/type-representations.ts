import { javaText } from '../../../../../java-compat/java-text.ts'
import { BOOLEAN, FLOAT32, FLOAT64, INT16, INT64, STRING } from '../../../../../sdk/index.ts'
import { INTEGER, LONG } from '../../../cdc/values/numeric-types.ts'
import {
  dateType,
  timestampType,
  timeType,
  ZONED_TIME,
  zonedTimestampType,
} from '../../../cdc/values/temporal-types.ts'
import { binaryType, named, TEXT_TYPE, type ValueType } from '../../../cdc/values/value-type.ts'
import { arrayItems, arrayType, vectorItems } from './array-type.ts'
import { bitsType } from './bits-type.ts'
import { GEOGRAPHY, GEOMETRY, POINT } from './geometry-types.ts'
import { hstoreType } from './hstore-type.ts'
import { intervalType } from './interval-type.ts'
import { moneyType, numericType } from './numeric-types.ts'
import type { CatalogType, TypeCatalog } from './type-catalog.ts'
import type { ValueSettings } from './value-settings.ts'
import { HALF_VECTOR, SPARSE_VECTOR, VECTOR } from './vector-types.ts'

/** Digits of the fraction of a second of a type without a precision. */
const FRACTION_DIGITS = 6
/** The part of an interval's modifier that has its precision. */
const PRECISION_BITS = 0xffff

const data = (name: string) => named(`io.debezium.data.${name}`, TEXT_TYPE)
const TSVECTOR: ValueType = { ...data('Tsvector'), isRequiredItem: true }
const precisionOf = (modifier: number) => (modifier < 0 ? FRACTION_DIGITS : modifier & PRECISION_BITS)

/** Types by the name of the catalog. The names of extensions are those that they create. */
const BY_NAME: Readonly<Record<string, ValueType | ((modifier: number, settings: ValueSettings) => ValueType)>> = {
  bool: { schema: BOOLEAN, decode: (text) => text === 't' },
  int2: { schema: INT16, decode: Number },
  int4: INTEGER,
  int8: LONG,
  oid: { schema: INT64, decode: Number },
  float4: { schema: FLOAT32, decode: Number },
  float8: { schema: FLOAT64, decode: Number },
  numeric: (modifier, { decimals }) => numericType(modifier, decimals),
  money: (_, { moneyDigits, decimals }) => moneyType(moneyDigits, decimals),
  bit: bitsType,
  varbit: bitsType,
  bytea: (_, { binary }) => binaryType(binary, (text) => Buffer.from(text.slice(2), 'hex')),
  date: (_, { times }) => dateType(times),
  time: (modifier, { times }) => timeType(precisionOf(modifier), times),
  timetz: ZONED_TIME,
  timestamp: (modifier, { times }) => timestampType(precisionOf(modifier), times),
  timestamptz: (modifier) => zonedTimestampType(precisionOf(modifier)),
  interval: (_, { intervals }) => intervalType(intervals),
  ...Object.fromEntries(
    ['bpchar', 'char', 'varchar', 'text', 'name', 'citext', 'isbn', 'inet', 'cidr', 'macaddr', 'macaddr8'].map(
      (name) => [name, TEXT_TYPE],
    ),
  ),
  ...Object.fromEntries(
    ['int4range', 'int8range', 'numrange', 'tsrange', 'tstzrange', 'daterange'].map((name) => [name, TEXT_TYPE]),
  ),
  uuid: data('Uuid'),
  json: data('Json'),
  jsonb: data('Json'),
  xml: data('Xml'),
  ltree: data('Ltree'),
  tsvector: TSVECTOR,
  hstore: (_, { hstores }) => hstoreType(hstores),
  point: POINT,
  geometry: GEOMETRY,
  geography: GEOGRAPHY,
  vector: VECTOR,
  halfvec: HALF_VECTOR,
  sparsevec: SPARSE_VECTOR,
}

/** Returns the representation of a type, or undefined if it is excluded. */
export function representationOf(
  type: CatalogType | undefined,
  modifier: number,
  settings: ValueSettings,
  catalog: TypeCatalog,
): ValueType | undefined {
  const known = type === undefined ? undefined : knownType(type, modifier, settings, catalog)
  return known ?? (settings.includesUnknown ? unknownType(type?.name ?? '', settings) : undefined)
}

/** Types of which PostgreSQL's JDBC driver writes the numbers in Java's form: `(1.0,2.0)`. */
const SHAPES = new Set(['line', 'lseg', 'box', 'path', 'polygon', 'circle'])
const NUMBER = /-?(?:\d[\d.]*(?:e[-+]?\d+)?|Infinity)/g

function unknownType(name: string, { binary }: ValueSettings): ValueType {
  if (!SHAPES.has(name)) return binaryType(binary, (text) => Buffer.from(text))
  const inJavaForm = (text: string) => text.replace(NUMBER, (number) => javaText(Number(number), FLOAT64))
  return binaryType(binary, (text) => Buffer.from(inJavaForm(text)))
}

function knownType(
  type: CatalogType,
  modifier: number,
  settings: ValueSettings,
  catalog: TypeCatalog,
): ValueType | undefined {
  if (type.kind === 'domain') {
    const base = catalog.get(type.baseId)
    return base && knownType(base, modifier < 0 ? type.baseModifier : modifier, settings, catalog)
  }
  if (type.kind === 'enum') return enumType(type.labels)
  if (type.itemId !== undefined) {
    const item = catalog.get(type.itemId)
    const itemType = item && knownType(item, modifier, settings, catalog)
    return itemType && arrayType(itemType, toItemsOf(type, item))
  }
  if (type.kind === 'other') return undefined
  const found = Object.hasOwn(BY_NAME, type.name) ? BY_NAME[type.name] : undefined
  return typeof found === 'function' ? found(modifier, settings) : found
}

/** Arrays whose text has spaces only. */
const VECTORS = new Set(['int2vector', 'oidvector'])

function toItemsOf(type: CatalogType, item: CatalogType): (text: string) => readonly (string | null)[] {
  if (VECTORS.has(type.name)) return vectorItems
  return (text) => arrayItems(text, item.name === 'box' ? ';' : ',')
}

function enumType(labels: readonly string[]): ValueType {
  const schema = { ...STRING, name: 'io.debezium.data.Enum', version: 1, parameters: { allowed: labels.join(',') } }
  return { schema, decode: TEXT_TYPE.decode, isRequiredItem: true }
}
