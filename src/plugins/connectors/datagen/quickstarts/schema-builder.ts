type AvroType = string | Readonly<Record<string, unknown>>
export type Fields = Readonly<Record<string, AvroType>>
/** The key field and the record schema, by the name of the quickstart. */
export type Quickstarts = Readonly<Record<string, readonly [keyField: string, avro: AvroType]>>

// Builders for Avro schemas with `arg.properties`, which describe the values to generate.

export const typeWithArguments = (type: string, properties: object, logicalType?: string): AvroType => ({
  type,
  ...(logicalType && { logicalType }),
  'arg.properties': properties,
})
export const regexString = (regex: string) => typeWithArguments('string', { regex })
export const stringOption = (...options: readonly string[]) => typeWithArguments('string', { options })
export const intRange = (min: number, max: number) => typeWithArguments('int', { range: { min, max } })
export const longRange = (min: number, max: number) => typeWithArguments('long', { range: { min, max } })
export const doubleRange = (min: number, max: number) => typeWithArguments('double', { range: { min, max } })
export const iteration = (type: string, start: number, step = 1, logicalType?: string) =>
  typeWithArguments(type, { iteration: { start, step } }, logicalType)
export const recordOf = (name: string, fields: Fields): AvroType => ({
  type: 'record',
  name,
  fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })),
})

/** A record that is one of these rows. Columns are written as `id:int name`; the default type is string. */
export function recordOption(name: string, columns: string, rows: readonly (readonly unknown[])[]): AvroType {
  const fields = columns.split(' ').map((column) => column.split(':') as [string, string?])
  const options = rows.map((row) => Object.fromEntries(fields.map(([field], at) => [field, row[at]])))
  const schema = recordOf(name, Object.fromEntries(fields.map(([field, type = 'string']) => [field, type])))
  return { ...(schema as object), 'arg.properties': { options } }
}

/** Numbers the rows, starting at `first`. */
export const numbered = (rows: readonly (readonly unknown[])[], first = 1) =>
  rows.map((row, at) => [first + at, ...row])

export const START_MS = Date.UTC(2025, 0, 1)
export const YEAR_MS = 31_536_000_000
export const [FIRST_DAY, LAST_DAY] = [20_089, 20_454]
export const timestamps = iteration('long', START_MS, 1_000, 'timestamp-millis')
export const days = typeWithArguments('int', { range: { min: FIRST_DAY, max: LAST_DAY } }, 'date')

// Values shared by several quickstarts.

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
export const firstNames = stringOption(...NAMES.map(([first]) => first))
export const lastNames = stringOption(...NAMES.map(([, last]) => last))
export const nicknames = NAMES.map(([first, last]) => `${first}_${last.slice(0, 2)}`.toLowerCase())
export const fullNames = stringOption(...NAMES.map(([first, last]) => `${first} ${last}`))

export const CITIES = [
  ['Portland', 'OR', 97_205],
  ['Austin', 'TX', 78_701],
  ['Chicago', 'IL', 60_601],
  ['Boston', 'MA', 2_108],
  ['Denver', 'CO', 80_202],
  ['Raleigh', 'NC', 27_601],
] as const
export const cities = stringOption(...CITIES.map(([city]) => city))

// Addresses reserved for documentation (RFC 5737).
export const clientIp = regexString('198\\.51\\.100\\.[1-9]\\d')
