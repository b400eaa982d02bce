import { decimalScale, LOGICAL, type Schema } from '../../../../sdk/index.ts'

/** The zero of types whose values are text. */
const ZERO_TEXTS: Readonly<Record<string, string>> = {
  'io.debezium.time.ZonedTime': '00:00:00Z',
  'io.debezium.time.ZonedTimestamp': '1970-01-01T00:00:00Z',
  'io.debezium.time.Interval': 'P0Y0M0DT0H0M0S',
  'io.debezium.time.IsoDate': '1970-01-01Z',
  'io.debezium.time.IsoTime': '00:00:00Z',
  'io.debezium.time.IsoTimestamp': '1970-01-01T00:00:00Z',
}

/** What a field that is not optional has if its value is not known, such as in the old row of a deleted one. */
export function zeroValue(schema: Schema): unknown {
  switch (schema.name) {
    case LOGICAL.decimal:
      return { unscaled: 0n, scale: decimalScale(schema) }
    case LOGICAL.date:
    case LOGICAL.timestamp:
      return new Date(0)
    default:
      return zeroOfType(schema)
  }
}

function zeroOfType(schema: Schema): unknown {
  switch (schema.type) {
    case 'string':
      return ZERO_TEXTS[schema.name ?? ''] ?? ''
    case 'boolean':
      return false
    case 'bytes':
      return Buffer.alloc(0)
    case 'array':
      return []
    case 'map':
      return new Map()
    case 'struct':
      return Object.fromEntries((schema.fields ?? []).map(({ name, schema: field }) => [name, zeroField(field)]))
    default:
      return 0
  }
}

function zeroField(schema: Schema): unknown {
  return schema.optional ? null : zeroValue(schema)
}
