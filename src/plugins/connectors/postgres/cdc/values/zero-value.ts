import { decimalScale, LOGICAL, type Schema } from '../../../../../sdk/index.ts'

/** Texts that stand for no value where an empty string is not valid. */
const EMPTY_TEXTS: Readonly<Record<string, string>> = {
  'io.debezium.data.Json': '{}',
  'io.debezium.data.Uuid': '00000000-0000-0000-0000-000000000000',
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
      return EMPTY_TEXTS[schema.name ?? ''] ?? ''
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
