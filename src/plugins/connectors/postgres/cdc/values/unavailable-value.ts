import { createHash } from 'node:crypto'
import type { Schema } from '../../../../../sdk/index.ts'

const UUID = 'io.debezium.data.Uuid'

/**
 * Returns what stands for a value that the server did not send, because it is stored out of line and did not change. Null if
 * no value of the type could be recognized as a placeholder. Debezium has null also for some types that have one here.
 */
export function unavailableValue(schema: Schema, placeholder: string): unknown {
  switch (schema.type) {
    case 'string':
      return placeholder
    case 'bytes':
      return schema.name === undefined ? Buffer.from(placeholder) : null
    case 'map':
      return new Map([[placeholder, placeholder]])
    case 'array':
      return unavailableItems(schema.items!, placeholder)
    default:
      return null
  }
}

/** Arrays of integers have the bytes of the placeholder as their items. */
function unavailableItems({ type, name = '' }: Schema, placeholder: string): readonly unknown[] | null {
  if (name === UUID) return [nameBasedUuid(placeholder)]
  if (type === 'string') return [placeholder]
  if (type === 'bytes' && name === '') return [Buffer.from(placeholder)]
  const isNumber = (type === 'int32' || type === 'int64') && !name.startsWith('org.apache.kafka.')
  return isNumber ? [...Buffer.from(placeholder)] : null
}

/** The UUID of version 3 that Java's `UUID.nameUUIDFromBytes` returns. */
function nameBasedUuid(name: string): string {
  const bytes = createHash('md5').update(name).digest()
  bytes[6] = (bytes[6]! & 0x0f) | 0x30
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
