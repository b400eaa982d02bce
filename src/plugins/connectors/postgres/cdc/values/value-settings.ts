import type { BinaryMode, DecimalMode, TimeMode } from '../../../cdc/values/value-modes.ts'

export const INTERVAL_MODES = ['numeric', 'string'] as const
export const HSTORE_MODES = ['json', 'map'] as const

/** How values of columns are represented in events. */
export type ValueSettings = {
  readonly decimals: DecimalMode
  readonly times: TimeMode
  readonly intervals: (typeof INTERVAL_MODES)[number]
  readonly hstores: (typeof HSTORE_MODES)[number]
  readonly binary: BinaryMode
  /** Number of fractional digits of `money`. */
  readonly moneyDigits: number
  /** Whether columns of other types are included, as bytes of their text. */
  readonly includesUnknown: boolean
}
