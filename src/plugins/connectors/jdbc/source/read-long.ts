import { int64 } from '../../../../sdk/index.ts'

/** Returns a number if it is exact, otherwise a bigint. */
export function readLong(text: string): number | bigint {
  return text.length < 16 ? Number(text) : int64(BigInt(text))
}
