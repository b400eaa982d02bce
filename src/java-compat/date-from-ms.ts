import { DataError } from '../sdk/index.ts'

/**
 * Returns the date at a time in ms since 1970. Throws a `DataError` beyond the range of `Date`, which is smaller than that of
 * Java's dates. Such times are usually in another unit.
 */
export function dateFromMs(ms: number): Date {
  const date = new Date(ms)
  if (Number.isNaN(date.getTime())) {
    throw new DataError(`${ms} ms since 1970 is not a date that can be represented: expected at most 8.64e15 ms`)
  }
  return date
}
