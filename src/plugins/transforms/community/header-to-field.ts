import { inferType } from '../../../java-compat/java-class-name.ts'
import {
  DataError,
  field,
  LOGICAL,
  optional,
  type RecordHeader,
  type Schema,
  type SchemaType,
  TIMESTAMP,
  z,
} from '../../../sdk/index.ts'
import { headerText } from '../../converters/simple-header/header-text.ts'
import { toBoolean, toFloat, toInteger } from '../cast-number.ts'
import { sideTransforms } from '../key-value-transforms.ts'
import { absenceOf, basicsOf, membersOf, oncePerSchema, requireStruct, structOf } from '../struct-access.ts'
import { COMMUNITY_PACKAGE } from './community-package.ts'

const KEY = 'header.mappings'

type Convert = (value: unknown, schema: Schema | null) => unknown
type Mapping = { readonly header: string; readonly field: string; readonly schema: Schema; readonly convert: Convert }

const typeOf = (value: unknown, schema: Schema | null): SchemaType => schema?.type ?? inferType(value)
const whole =
  (bits: 8 | 16 | 32 | 64): Convert =>
  (value, schema) =>
    toInteger(value, typeOf(value, schema), bits)
const basic = (type: SchemaType): Schema => ({ type, optional: true })

const TYPES: Readonly<Record<string, { readonly schema: Schema; readonly convert: Convert }>> = {
  STRING: { schema: basic('string'), convert: (value, schema) => headerText(value, schema) },
  BOOLEAN: { schema: basic('boolean'), convert: (value, schema) => toBoolean(value, typeOf(value, schema)) },
  INT8: { schema: basic('int8'), convert: whole(8) },
  INT16: { schema: basic('int16'), convert: whole(16) },
  INT32: { schema: basic('int32'), convert: whole(32) },
  INT64: { schema: basic('int64'), convert: whole(64) },
  FLOAT32: { schema: basic('float32'), convert: (value) => toFloat(value, 'float32') },
  FLOAT64: { schema: basic('float64'), convert: (value) => toFloat(value, 'float64') },
  'INT64(TIMESTAMP)': { schema: optional(TIMESTAMP), convert: toTimestamp },
  'INT64(ORG.APACHE.KAFKA.CONNECT.DATA.TIMESTAMP)': { schema: optional(TIMESTAMP), convert: toTimestamp },
}

/** HeaderToField of kafka-connect-transform-common. */
export const headerToField = sideTransforms({
  name: 'HeaderToField',
  original: `${COMMUNITY_PACKAGE}.HeaderToField`,
  summary: 'Copies headers to fields of the key or value.',
  notes: `
The key or value must be a struct. If there are several headers with a name, the last one is used; if there is none, the field is null. A header
that cannot be converted is an error of the record. The types BYTES, Decimal, Date and Time of the original are not supported.
`,
  config: z.object({
    [KEY]: field.parsed(
      field.list({
        doc: 'Headers, as HEADER:TYPE or HEADER:TYPE:FIELD. Types: STRING, BOOLEAN, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64, INT64(Timestamp).',
        importance: 'HIGH',
      }),
      (mappings) => mappings.map(parseMapping),
    ),
  }),
  create({ [KEY]: mappings }) {
    const extended = oncePerSchema((schema) => {
      const added = mappings.map((one) => ({ name: one.field, schema: one.schema }))
      return structOf({ ...basicsOf(schema), ...absenceOf(schema) }, [...(schema.fields ?? []), ...added])
    })
    return (side, { headers }) => {
      const { schema, value } = side
      if (schema === null && (value === null || value === undefined)) return side
      if (schema === null) throw new DataError('MAP is not a supported type.')
      const members = membersOf(schema, requireStruct(value, schema, 'copying headers to fields'), true)
      const added = mappings.map((one) => [one.field, converted(headers, one)])
      return { schema: extended(schema), value: { ...members, ...Object.fromEntries(added) } }
    }
  },
})

function converted(headers: readonly RecordHeader[], { header, convert }: Mapping): unknown {
  const found = headers.findLast(({ key }) => key === header)
  if (found === undefined || found.value === null || found.value === undefined) return null
  return convert(found.value, found.schema)
}

function toTimestamp(value: unknown, schema: Schema | null): Date {
  if (value instanceof Date) return value
  if (typeof value === 'number' && schema?.name !== LOGICAL.time) return new Date(value)
  throw new DataError('a header of type Timestamp must be a timestamp or a number of milliseconds')
}

function parseMapping(written: string): Mapping {
  const [header = '', type = '', name = header, ...more] = written.split(':').map((part) => part.trim())
  const known = TYPES[type.toUpperCase()]
  if (header !== '' && name !== '' && known !== undefined && more.length === 0) return { header, field: name, ...known }
  const problem =
    known === undefined && type !== ''
      ? `the type '${type}' is not supported; use ${Object.keys(TYPES).join(', ')}`
      : 'expected HEADER:TYPE or HEADER:TYPE:FIELD'
  throw new Error(`Invalid value ${written} for configuration ${KEY}: ${problem}`)
}
