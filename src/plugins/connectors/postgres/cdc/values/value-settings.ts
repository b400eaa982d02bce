export const DECIMAL_MODES = ['precise', 'double', 'string'] as const
export const TIME_MODES = [
  'adaptive',
  'adaptive_time_microseconds',
  'connect',
  'isostring',
  'microseconds',
  'nanoseconds',
] as const
export const INTERVAL_MODES = ['numeric', 'string'] as const
export const HSTORE_MODES = ['json', 'map'] as const
export const BINARY_MODES = ['bytes', 'base64', 'base64-url-safe', 'hex'] as const

export type DecimalMode = (typeof DECIMAL_MODES)[number]
export type TimeMode = (typeof TIME_MODES)[number]
export type BinaryMode = (typeof BINARY_MODES)[number]

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
