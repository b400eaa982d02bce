/** Bytes that a converter reads (hex; null is a tombstone), or a value that it writes: an envelope, `{plain}`, or null. */
export type ScalarCase = {
  readonly class: string
  readonly config: Readonly<Record<string, string>>
} & ({ readonly bytes: string | null } | { readonly side: object | null })

const WIDTHS: Readonly<Record<string, readonly string[]>> = {
  Short: ['0000', '7fff', '8000', 'ffff', '0102'],
  Integer: ['00000000', '7fffffff', '80000000', 'ffffffff', '01020304'],
  Long: ['0000000000000000', '7fffffffffffffff', '8000000000000000', 'ffffffffffffffff', '0020000000000001'],
  Float: ['00000000', '3fc00000', '80000000', '7f7fffff', 'ff7fffff', 'c2f6e979'],
  Double: ['0000000000000000', '3ff8000000000000', '8000000000000000', '7fefffffffffffff', 'c05edd2f1a9fbe77'],
  Boolean: ['00', '01', '02', 'ff'],
}
const ODD_BYTES = [null, '', '00', '0001', '000102', '0001020304050607', '000102030405060708']

const envelope = (type: string, payload: unknown, more: object = {}) => ({
  schema: { type, optional: payload === null, ...more },
  payload,
})

const SIDES: readonly (object | null)[] = [
  null,
  envelope('int8', -3),
  envelope('int16', 300),
  envelope('int32', 70_000),
  envelope('int32', -1),
  envelope('int64', 5_000_000_000),
  envelope('float', 1.5),
  envelope('double', -2.25),
  envelope('double', 1e300),
  envelope('boolean', true),
  envelope('boolean', false),
  envelope('string', '7'),
  envelope('bytes', 'AQID'),
  envelope('int32', null),
  envelope('boolean', null),
  envelope('int32', 3, { name: 'org.apache.kafka.connect.data.Date' }),
  envelope('array', [1], { items: { type: 'int32', optional: false } }),
  { plain: 12 },
  { plain: 1.5 },
  { plain: 'text' },
  { plain: true },
]

const BINARY = 'io.debezium.converters.BinaryDataConverter'

/** What the converters of plain values are held to: each reads bytes that fit and bytes that do not, and takes all types. */
export function scalarCases(): readonly ScalarCase[] {
  const scalars = Object.entries(WIDTHS).flatMap(([name, fitting]) =>
    casesOf(`converters.${name}Converter`, [...fitting, ...ODD_BYTES]),
  )
  const texts = ['c3b6e282ac', '', null, '00', 'ff']
  return [
    ...scalars,
    ...casesOf('converters.ByteArrayConverter', ['00ff', '', null]),
    ...casesOf('storage.StringConverter', texts),
    ...casesOf('storage.StringConverter', texts, { 'converter.encoding': 'ISO-8859-1' }),
    ...casesOf(BINARY, ['00ff', '', null]),
    ...casesOf(BINARY, [], { 'delegate.converter.type': 'org.apache.kafka.connect.json.JsonConverter' }),
    ...casesOf(BINARY, [], {
      'delegate.converter.type': 'org.apache.kafka.connect.json.JsonConverter',
      'delegate.converter.type.schemas.enable': 'false',
    }),
    ...casesOf(BINARY, [], { 'delegate.converter.type': 'org.apache.kafka.connect.converters.LongConverter' }),
  ]
}

function casesOf(name: string, bytes: readonly (string | null)[], config = {}): readonly ScalarCase[] {
  // Java writes the address of an array.
  const sides = name.includes('String') ? SIDES.filter((side) => !JSON.stringify(side).includes('bytes')) : SIDES
  return [
    ...bytes.map((hex) => ({ class: name, config, bytes: hex })),
    ...sides.map((side) => ({ class: name, config, side })),
  ]
}
