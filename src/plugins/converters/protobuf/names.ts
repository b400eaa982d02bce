const NAMESPACE = 'io.confluent.connect.protobuf'
/** Parameter of a field schema: the field number. */
export const TAG = `${NAMESPACE}.Tag`
/** Parameter of an integer schema whose Protobuf type is not Connect's default. */
export const TYPE = `${NAMESPACE}.Type`
/** Parameter of decimals: the precision. */
export const PROTOBUF_PRECISION = 'connect.decimal.precision'
/** Parameter of a string schema that represents an enum. One more parameter holds the number of each enum value. */
export const PROTOBUF_ENUM = `${NAMESPACE}.Enum`
/** Prefix of the names of structs that represent a oneof. */
export const PROTOBUF_UNION = `${NAMESPACE}.Union`
/** Name of structs without a name, followed by a number. */
export const DEFAULT_MESSAGE_NAME = 'ConnectDefault'

/** Messages that represent Connect's logical types. */
export const MESSAGE = {
  decimal: 'confluent.type.Decimal',
  date: 'google.type.Date',
  time: 'google.type.TimeOfDay',
  timestamp: 'google.protobuf.Timestamp',
} as const

/** Converts `some_map` to `SomeMap`, as used in the names of map entry messages. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
}

/** Returns the name of a map from the name of its entry message: `a.SomeMapEntry` becomes `a.some_map`. */
export function mapName(entry: string): string {
  const dot = entry.lastIndexOf('.') + 1
  const own = entry.slice(dot).replace(/Entry$/, '')
  const snake = own.replace(/(.)([A-Z])/g, '$1_$2').toLowerCase()
  return entry.slice(0, dot) + snake
}

/** Returns the name of a map's entry message. */
export function entryName(map: string): string {
  const own = map.slice(map.lastIndexOf('.') + 1)
  return `${own.includes('_') ? pascalCase(own) : own}Entry`
}
