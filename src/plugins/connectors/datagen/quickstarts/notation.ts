type AvroType = string | Readonly<Record<string, unknown>>
export type Fields = Readonly<Record<string, AvroType>>
/** By the name of a quickstart: the field that is the key, and the schema of the records. */
export type Quickstarts = Readonly<Record<string, readonly [keyField: string, avro: AvroType]>>

// Schemas of Avro with what their values are to be like.

export const like = (type: string, properties: object, logicalType?: string): AvroType => ({
  type,
  ...(logicalType && { logicalType }),
  'arg.properties': properties,
})
export const text = (regex: string) => like('string', { regex })
export const word = (...options: readonly string[]) => like('string', { options })
export const int = (min: number, max: number) => like('int', { range: { min, max } })
export const long = (min: number, max: number) => like('long', { range: { min, max } })
export const double = (min: number, max: number) => like('double', { range: { min, max } })
export const counted = (type: string, start: number, step = 1, logicalType?: string) =>
  like(type, { iteration: { start, step } }, logicalType)
export const record = (name: string, fields: Fields): AvroType => ({
  type: 'record',
  name,
  fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
})

/** A record that is one of these rows, of columns such as `id:int name`. */
export function oneOf(name: string, columns: string, rows: readonly (readonly unknown[])[]): AvroType {
  const fields = columns.split(' ').map((column) => column.split(':') as [string, string?])
  const options = rows.map((row) => Object.fromEntries(fields.map(([field], at) => [field, row[at]])))
  const schema = record(name, Object.fromEntries(fields.map(([field, type = 'string']) => [field, type])))
  return { ...(schema as object), 'arg.properties': { options } }
}

/** Numbers rows from 1, or from what is given. */
export const numbered = (rows: readonly (readonly unknown[])[], first = 1) =>
  rows.map((row, at) => [first + at, ...row])

export const START_MS = Date.UTC(2025, 0, 1)
export const YEAR_MS = 31_536_000_000
export const [FIRST_DAY, LAST_DAY] = [20_089, 20_454]
export const moment = counted('long', START_MS, 1_000, 'timestamp-millis')
export const day = like('int', { range: { min: FIRST_DAY, max: LAST_DAY } }, 'date')

// Words that several of them use.

export const NAMES = [
  ['Ada', 'Berg', 'F'],
  ['Bruno', 'Castell', 'M'],
  ['Chidi', 'Danso', 'M'],
  ['Dilara', 'Erdem', 'F'],
  ['Emil', 'Falk', 'M'],
  ['Fumiko', 'Goto', 'F'],
  ['Grace', 'Hollis', 'F'],
  ['Hugo', 'Iversen', 'M'],
  ['Ines', 'Jardim', 'F'],
  ['Jonas', 'Keller', 'M'],
  ['Kiran', 'Lal', 'X'],
  ['Lucia', 'Moreno', 'F'],
] as const
export const email = (first: string, last: string) => `${first}.${last}@example.org`.toLowerCase()
export const firstNames = word(...NAMES.map(([first]) => first))
export const lastNames = word(...NAMES.map(([, last]) => last))
export const nicknames = NAMES.map(([first, last]) => `${first}_${last.slice(0, 2)}`.toLowerCase())
export const fullNames = word(...NAMES.map(([first, last]) => `${first} ${last}`))

export const CITIES = [
  ['Portland', 'OR', 97_205],
  ['Austin', 'TX', 78_701],
  ['Chicago', 'IL', 60_601],
  ['Boston', 'MA', 2_108],
  ['Denver', 'CO', 80_202],
  ['Raleigh', 'NC', 27_601],
] as const
export const cities = word(...CITIES.map(([city]) => city))

// Addresses that are set aside for documentation.
export const clientIp = text('198\\.51\\.100\\.[1-9]\\d')
