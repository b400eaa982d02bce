const NAMESPACE = 'io.confluent.connect.protobuf'
/** The parameter of fields: their numbers. */
export const TAG = `${NAMESPACE}.Tag`
/** The parameter of strings that were an enum, with one more for the number of each of its words. */
export const ENUM = `${NAMESPACE}.Enum`
/** Structs whose names begin so are a oneof. */
export const UNION = `${NAMESPACE}.Union`
/** Of structs without a name, with a number behind. */
export const DEFAULT_NAME = 'ConnectDefault'

/** Messages that stand for Connect's logical types. */
export const MESSAGE = {
  decimal: 'confluent.type.Decimal',
  date: 'google.type.Date',
  time: 'google.type.TimeOfDay',
  timestamp: 'google.protobuf.Timestamp',
} as const
