import type { BinaryMode, DecimalMode, TimeMode } from '../../../cdc/values/value-modes.ts'

export const UNSIGNED_MODES = ['long', 'precise'] as const

/** How values of columns are represented. */
export type MysqlValueSettings = {
  readonly decimals: DecimalMode
  readonly times: TimeMode
  readonly unsignedBigints: (typeof UNSIGNED_MODES)[number]
  readonly binary: BinaryMode
  /** Whether years of one or two digits are those from 1970 to 2069. */
  readonly adjustsYears: boolean
}
