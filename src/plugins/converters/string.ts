import { javaText } from '../../java-compat/java-text.ts'
import { toBuffer } from '../../sdk/bytes.ts'
import { defineConverter, field, OPTIONAL_STRING, type SchemaAndValue, z } from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'
import { asHeaderConverter } from './header-converter.ts'

const ENCODINGS: Readonly<Record<string, BufferEncoding>> = {
  'UTF-8': 'utf8',
  UTF8: 'utf8',
  'ISO-8859-1': 'latin1',
  'US-ASCII': 'latin1',
  'UTF-16LE': 'utf16le',
}

const config = z.object({
  'converter.encoding': field
    .text({
      doc: 'Name of the character set for reading and writing.',
      importance: 'HIGH',
      width: 'MEDIUM',
      displayName: 'Encoding',
      recommended: Object.keys(ENCODINGS),
    })
    .refine((name) => toEncoding(name) !== undefined, `expected one of ${Object.keys(ENCODINGS).join(', ')}`)
    .default('UTF-8'),
})

/** Reads text, and writes any value as Java's `String.valueOf` does. */
export const stringConverter = defineConverter({
  class: 'StringConverter',
  aliases: ['org.apache.kafka.connect.storage.StringConverter'],
  version: SHIPPED_VERSION,
  summary: 'Converts to and from strings.',
  config,
  create(settings) {
    const charset = toEncoding(settings['converter.encoding']) ?? 'utf8'
    return {
      fromConnect: (_topic, schema, value) => {
        if (value === null || value === undefined) return null
        return Buffer.from(typeof value === 'string' ? value : javaText(value, schema), charset)
      },
      toConnect: (_topic, bytes): SchemaAndValue => {
        if (bytes === null) return NULL
        return { schema: OPTIONAL_STRING, value: toBuffer(bytes).toString(charset) }
      },
    }
  },
})

export const stringHeaderConverter = asHeaderConverter(stringConverter)

const NULL: SchemaAndValue = { schema: OPTIONAL_STRING, value: null }

function toEncoding(name: string): BufferEncoding | undefined {
  return ENCODINGS[name.toUpperCase()]
}
