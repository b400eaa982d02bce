import { DataError, defineConverter, OPTIONAL_BYTES, valueLabel, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../version.ts'

/** Bytes as they are. */
export const byteArrayConverter = defineConverter({
  class: 'ByteArrayConverter',
  aliases: ['org.apache.kafka.connect.converters.ByteArrayConverter'],
  version: SHIPPED_VERSION,
  summary: 'Passes bytes through untouched.',
  config: z.object({}),
  create: () => ({
    fromConnect(_topic, schema, value) {
      if (schema !== null && schema.type !== 'bytes') {
        throw new DataError(`ByteArrayConverter takes bytes only, not ${schema.type}`)
      }
      if (value === null || value === undefined || value instanceof Uint8Array) return value ?? null
      throw new DataError(`ByteArrayConverter takes bytes only, not ${valueLabel(value)}`)
    },
    toConnect: (_topic, bytes) => ({ schema: OPTIONAL_BYTES, value: bytes }),
  }),
})
