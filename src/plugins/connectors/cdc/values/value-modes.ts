// Values of Debezium's keys that several of its connectors have.

export const DECIMAL_MODES = ['precise', 'double', 'string'] as const
export const TIME_MODES = [
  'adaptive',
  'adaptive_time_microseconds',
  'connect',
  'isostring',
  'microseconds',
  'nanoseconds',
] as const
export const BINARY_MODES = ['bytes', 'base64', 'base64-url-safe', 'hex'] as const

export type DecimalMode = (typeof DECIMAL_MODES)[number]
export type TimeMode = (typeof TIME_MODES)[number]
export type BinaryMode = (typeof BINARY_MODES)[number]
