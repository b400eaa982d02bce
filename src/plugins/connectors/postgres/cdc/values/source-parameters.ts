import type { Column } from '../changes/change.ts'
import type { CatalogType, TypeCatalog } from './type-catalog.ts'

const UNLIMITED = 2_147_483_647
/** The length that PostgreSQL's JDBC driver reports for types without a length, by the name of the type. */
const LENGTHS: Readonly<Record<string, number>> = {
  ...{ bool: 1, int2: 5, int4: 10, int8: 19, oid: 10, float4: 8, float8: 17, date: 13, interval: 49 },
  ...{ bpchar: 1, char: 1, bit: 1 },
}
const SCALES: Readonly<Record<string, number>> = { float4: 8, float8: 17 }
/** Characters of a time of day without its fraction. */
const CLOCK_LENGTH = 8
/** The digits of a `numeric` without a precision. */
const NUMERIC_DIGITS_MAX = 131_089

/**
 * The type of a column as parameters of its schema: `column.propagate.source.type` adds them. Length and scale are those of
 * PostgreSQL's JDBC driver.
 */
export function sourceParameters(column: Column, catalog: TypeCatalog): Readonly<Record<string, string>> {
  const type = catalog.get(column.typeId)
  const [base, modifier] = baseOf(type, column.modifier, catalog)
  const [length, scale] = sizeOf(base, modifier, type?.itemId !== undefined)
  return {
    '__debezium.source.column.type': (type?.name ?? '').toUpperCase(),
    '__debezium.source.column.length': String(length),
    ...(scale !== undefined && { '__debezium.source.column.scale': String(scale) }),
    '__debezium.source.column.name': column.name,
  }
}

/** The length of a column. Numbers without a precision are as long as the longest. */
export function columnLength(column: Column, catalog: TypeCatalog): number {
  const type = catalog.get(column.typeId)
  const [base, modifier] = baseOf(type, column.modifier, catalog)
  const [length, scale] = sizeOf(base, modifier, type?.itemId !== undefined)
  return scale === undefined ? NUMERIC_DIGITS_MAX : length
}

/** The type that determines the size: of a domain its base, of an array its items. */
function baseOf(type: CatalogType | undefined, modifier: number, catalog: TypeCatalog): readonly [string, number] {
  if (type?.kind === 'domain') {
    return baseOf(catalog.get(type.baseId), modifier < 0 ? type.baseModifier : modifier, catalog)
  }
  const item = type?.itemId === undefined ? type : catalog.get(type.itemId)
  return [item?.kind === 'domain' ? '' : (item?.name ?? ''), modifier]
}

type Size = readonly [length: number, scale: number | undefined]

function sizeOf(name: string, modifier: number, isArray: boolean): Size {
  const found = SIZES[name]?.(modifier, isArray)
  return found ?? [LENGTHS[name] ?? UNLIMITED, SCALES[name] ?? 0]
}

const bits = (modifier: number): Size | undefined => (modifier < 0 ? undefined : [modifier, 0])
const characters = (modifier: number): Size => [modifier < 0 ? UNLIMITED : modifier - 4, 0]
const clock =
  (around: number) =>
  (modifier: number): Size => {
    const digits = modifier < 0 ? 6 : modifier
    // The driver counts a fraction of one digit as two.
    const fraction = digits === 0 ? 0 : Math.max(digits + 1, 3)
    return [CLOCK_LENGTH + fraction + around, digits]
  }

/** Sizes that depend on the type modifier. */
const SIZES: Readonly<Record<string, (modifier: number, isArray: boolean) => Size | undefined>> = {
  time: clock(0),
  timetz: clock(6),
  timestamp: clock(14),
  timestamptz: clock(20),
  interval: (modifier) => [LENGTHS['interval']!, modifier < 0 ? 6 : modifier & 0xffff],
  numeric(modifier, isArray) {
    if (modifier < 0) return isArray ? [NUMERIC_DIGITS_MAX, 0] : [0, undefined]
    return [((modifier - 4) >> 16) & 0xffff, (modifier - 4) & 0xffff]
  },
  bit: bits,
  varbit: bits,
  varchar: characters,
  bpchar: characters,
}
