const NAMESPACE = 'io.confluent.connect.protobuf'
/** The parameter of fields: their numbers. */
export const TAG = `${NAMESPACE}.Tag`
/** The parameter of numbers whose type Protobuf has another word for. */
export const TYPE = `${NAMESPACE}.Type`
/** The parameter of decimals. */
export const PROTOBUF_PRECISION = 'connect.decimal.precision'
/** The parameter of strings that were an enum, with one more for the number of each of its words. */
export const PROTOBUF_ENUM = `${NAMESPACE}.Enum`
/** Structs whose names begin so are a oneof. */
export const PROTOBUF_UNION = `${NAMESPACE}.Union`
/** Of structs without a name, with a number behind. */
export const DEFAULT_MESSAGE_NAME = 'ConnectDefault'

/** Messages that stand for Connect's logical types. */
export const MESSAGE = {
  decimal: 'confluent.type.Decimal',
  date: 'google.type.Date',
  time: 'google.type.TimeOfDay',
  timestamp: 'google.protobuf.Timestamp',
} as const

/** `some_map` as `SomeMap`, which names the messages of a map's entries. */
export function pascalCase(name: string): string {
  return name.replace(/(?:^|_)([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
}

/** Of a map, by the full or own name of its entries: `a.SomeMapEntry` is `a.some_map`. */
export function mapName(entry: string): string {
  const dot = entry.lastIndexOf('.') + 1
  const own = entry.slice(dot).replace(/Entry$/, '')
  const snake = own.replace(/(.)([A-Z])/g, '$1_$2').toLowerCase()
  return entry.slice(0, dot) + snake
}

/** Of a map's entries, by the map's name. */
export function entryName(map: string): string {
  const own = map.slice(map.lastIndexOf('.') + 1)
  return `${own.includes('_') ? pascalCase(own) : own}Entry`
}
