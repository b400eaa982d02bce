import { dateFromMs } from '../../java-compat/date-from-ms.ts'
import { inferType, javaClass } from '../../java-compat/java-class-name.ts'
import {
  ConfigError,
  DATE,
  DataError,
  field,
  INT64,
  int64,
  LOGICAL,
  optional,
  type Schema,
  STRING,
  TIME,
  TIMESTAMP,
  z,
} from '../../sdk/index.ts'
import { type DatePattern, parseDatePattern } from './date-pattern.ts'
import { sideTransforms } from './key-value-transforms.ts'
import {
  absenceOf,
  basicsOf,
  exactWordField,
  type Members,
  membersOf,
  oncePerSchema,
  ownMember,
  replaceNullField,
  requireObject,
  requireStructOrNull,
  structOf,
} from './struct-access.ts'

const PURPOSE = 'converting timestamp formats'
const FORMS = ['string', 'unix', 'Date', 'Time', 'Timestamp'] as const
type Form = (typeof FORMS)[number]

const PRECISIONS = ['nanoseconds', 'microseconds', 'milliseconds', 'seconds'] as const
type Precision = (typeof PRECISIONS)[number]

const SCHEMAS: Readonly<Record<Form, Schema>> = {
  string: STRING,
  unix: INT64,
  Date: DATE,
  Time: TIME,
  Timestamp: TIMESTAMP,
}
const OPTIONAL = Object.fromEntries(FORMS.map((form) => [form, optional(SCHEMAS[form])])) as Record<Form, Schema>

/** Converts timestamps between text, Unix time and the logical types. */
export const timestampConverter = sideTransforms({
  name: 'TimestampConverter',
  summary: 'Converts timestamps between formats: strings, Unix time, and the logical types Date, Time and Timestamp.',
  notes: `
Times are in UTC; names of months and weekdays are in English. When a string is parsed, week fields (\`w\`, \`W\`, \`F\`, \`Y\`, \`u\`) are
ignored, and the supported time zones are UTC, GMT and offsets (\`z\` and \`Z\`: \`+0100\`, \`GMT+1:00\`); names such as PST are rejected. Dates
before 15 October 1582 are in the Julian calendar, as in Java: \`0001-01-01\` is 1 January of the Julian year 1.
`,
  config: z.object({
    field: field
      .text({
        doc: 'The field containing the timestamp, or empty if the entire value is a timestamp',
        importance: 'HIGH',
      })
      .default(''),
    'target.type': exactWordField(FORMS, {
      doc: 'The desired timestamp representation: string, unix, Date, Time, or Timestamp',
      importance: 'HIGH',
    }),
    format: field
      .text({
        doc:
          'A SimpleDateFormat-compatible format for the timestamp. Used to generate the output when type=string or used ' +
          'to parse the input if the input is a string.',
      })
      .default(''),
    'unix.precision': exactWordField(PRECISIONS, {
      doc:
        'The desired Unix precision for the timestamp: seconds, milliseconds, microseconds, or nanoseconds. Used to ' +
        'generate the output when type=unix or used to parse the input if the input is a Long.Note: This SMT will ' +
        'cause precision loss during conversions from, and to, values with sub-millisecond components.',
      importance: 'LOW',
    }).default('milliseconds'),
    'replace.null.with.default': replaceNullField(),
  }),
  create(config) {
    const { field: name, 'target.type': target, 'replace.null.with.default': withDefault } = config
    const convert = converter(target, config.format, config['unix.precision'])
    const formFor = (schema: Schema) => (schema.optional ? OPTIONAL : SCHEMAS)[target]
    const changed = (schema: Schema, struct: Members, withDefaults: boolean): Members =>
      membersOf(schema, struct, withDefaults, (found, one) => (one.name === name ? convert(found, one.schema) : found))
    const updated = oncePerSchema((schema) => {
      const fields = (schema.fields ?? []).map((one) =>
        one.name === name ? { name, schema: formFor(one.schema) } : one,
      )
      const { optional: isOptional, default: fallback } = absenceOf(schema)
      return structOf(
        {
          ...basicsOf(schema),
          ...(isOptional && { optional: true }),
          ...(fallback !== undefined && { default: changed(schema, fallback as Members, withDefault) }),
        },
        fields,
      )
    })
    return ({ schema, value }) => {
      if (schema === null) {
        if (name === '' || value === null || value === undefined) return { schema, value: convert(value, null) }
        const members = requireObject(value, PURPOSE)
        return { schema, value: { ...members, [name]: convert(ownMember(members, name), null) } }
      }
      if (name === '') return { schema: formFor(schema), value: convert(value, schema) }
      const struct = requireStructOrNull(value, schema, PURPOSE)
      return { schema: updated(schema), value: struct && changed(schema, struct, withDefault) }
    }
  },
})

function converter(target: Form, format: string, precision: Precision) {
  if (target === 'string' && format.trim() === '') {
    throw wrongFormat('TimestampConverter requires format option to be specified when using string timestamps')
  }
  const pattern = format.trim() === '' ? undefined : patternOf(format)
  return (value: unknown, schema: Schema | null): unknown => {
    if (value === null || value === undefined) return null
    const form = schema === null ? inferredForm(value) : formOf(schema)
    return fromMs(toMs(value, form), schema !== null)
  }

  function toMs(value: unknown, form: Form): number {
    if (form === 'string') return parsed(value as string)
    if (form === 'unix') return unixToMs(BigInt(value as number | bigint), precision)
    return value instanceof Date ? value.getTime() : Number(value)
  }

  function parsed(text: string): number {
    if (pattern === undefined) throw new DataError(`cannot parse the timestamp '${text}': 'format' is not set`)
    const ms = pattern.parse(text)
    if (ms !== undefined) return ms
    throw new DataError(`Could not parse timestamp: value (${text}) does not match pattern (${format})`)
  }

  function fromMs(ms: number, isTyped: boolean): unknown {
    switch (target) {
      case 'string':
        return pattern?.format(ms)
      case 'unix':
        return int64(msToUnix(BigInt(ms), precision))
      case 'Timestamp':
        return dateFromMs(ms)
      case 'Date':
        return dateFromMs(ms - timeOfDay(ms))
      case 'Time':
        return isTyped ? timeOfDay(ms) : new Date(timeOfDay(ms))
    }
  }
}

function patternOf(format: string): DatePattern {
  try {
    return parseDatePattern(format)
  } catch (error) {
    const { message } = error as Error
    const wrong = 'TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps'
    throw wrongFormat(`${wrong}: ${format} (${message})`)
  }
}

function wrongFormat(message: string): ConfigError {
  return new ConfigError([{ key: 'format', message }])
}

const DAY_MS = 86_400_000

function timeOfDay(ms: number): number {
  return ((ms % DAY_MS) + DAY_MS) % DAY_MS
}

function unixToMs(value: bigint, precision: Precision): number {
  if (precision === 'seconds') return Number(value * 1000n)
  if (precision === 'microseconds') return Number(value / 1000n)
  return Number(precision === 'nanoseconds' ? value / 1_000_000n : value)
}

function msToUnix(ms: bigint, precision: Precision): bigint {
  if (precision === 'seconds') return ms / 1000n
  if (precision === 'microseconds') return ms * 1000n
  return precision === 'nanoseconds' ? ms * 1_000_000n : ms
}

function formOf({ name, type }: Schema): Form {
  if (name === LOGICAL.timestamp) return 'Timestamp'
  if (name === LOGICAL.date) return 'Date'
  if (name === LOGICAL.time) return 'Time'
  if (type === 'string') return 'string'
  if (type === 'int64') return 'unix'
  const shown = `Schema{${name === undefined ? '' : `${name}:`}${type.toUpperCase()}}`
  throw new Error(`Schema ${shown} does not correspond to a known timestamp type format`)
}

function inferredForm(value: unknown): Form {
  if (value instanceof Date) return 'Timestamp'
  const type = inferType(value)
  if (type === 'int64') return 'unix'
  if (type === 'string') return 'string'
  throw new DataError(`TimestampConverter does not support class ${javaClass(value, null)} objects as timestamps`)
}
