import { javaClass } from '../../java-compat/java-class-name.ts'
import { DataError, defineConverter, OPTIONAL_BYTES, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'
import { asHeaderConverter } from './header-converter.ts'

/** Passes bytes through unchanged. */
export const byteArrayConverter = defineConverter({
  class: 'ByteArrayConverter',
  aliases: [
    'org.apache.kafka.connect.converters.ByteArrayConverter',
    'io.confluent.connect.replicator.util.ByteArrayConverter',
  ],
  version: SHIPPED_VERSION,
  summary: 'Passes bytes through unchanged.',
  config: z.object({}),
  create: () => ({
    fromConnect(_topic, schema, value) {
      if (schema !== null && schema.type !== 'bytes') {
        throw new DataError(`Invalid schema type for ByteArrayConverter: ${schema.type.toUpperCase()}`)
      }
      if (value === null || value === undefined || value instanceof Uint8Array) return value ?? null
      const found = javaClass(value, schema)
      throw new DataError(`ByteArrayConverter is not compatible with objects of type class ${found}`)
    },
    toConnect: (_topic, bytes) => ({ schema: OPTIONAL_BYTES, value: bytes }),
  }),
})

export const byteArrayHeaderConverter = asHeaderConverter(byteArrayConverter)
