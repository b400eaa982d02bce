import { DataError, valueLabel } from '../../../../sdk/index.ts'
import type { EpochUnit } from './sink-database.ts'

/** Returns the microseconds of a time since 1970, given as a number or as decimal digits. Throws a `DataError`. */
export function epochMicros(value: unknown, unit: EpochUnit): number {
  const text = String(value)
  if (!/^-?\d+$/.test(text)) throw new DataError(`${valueLabel(value)} is not a number of ${unit} since 1970`)
  return Number(unit === 'nanoseconds' ? BigInt(text) / 1000n : BigInt(text))
}

/** Throws the `DataError` for a value that is not of its schema. */
export function rejectValue(value: unknown, wanted: string): never {
  throw new DataError(`expected ${wanted}, got ${valueLabel(value)}`)
}
