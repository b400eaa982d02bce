import { javaClass } from '../../java-compat/java-class-name.ts'
import {
  ConfigError,
  type Converter,
  type ConverterInstance,
  DataError,
  defineConverter,
  defineHeaderConverter,
  field,
  OPTIONAL_BYTES,
  parseConfig,
  type RawConfig,
  type Schema,
  z,
} from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'
import { avroConverter } from './avro/avro-converter.ts'
import { byteArrayConverter } from './byte-array.ts'
import { jsonConverter } from './json/json-converter.ts'
import { jsonSchemaConverter } from './json-schema/json-schema-converter.ts'
import { protobufConverter } from './protobuf/protobuf-converter.ts'
import { scalarConverters } from './scalar-converters.ts'
import { stringConverter } from './string.ts'

const DELEGATE = 'delegate.converter.type'
const PREFIX = `${DELEGATE}.`

const DELEGATES: readonly Converter[] = [
  jsonConverter,
  stringConverter,
  avroConverter,
  jsonSchemaConverter,
  protobufConverter,
  byteArrayConverter,
  ...scalarConverters,
] as readonly Converter[]

const NAMES = {
  class: 'BinaryDataConverter',
  aliases: [
    'io.debezium.converters.BinaryDataConverter',
    // Names in Debezium before 2.0 and 1.9.
    'io.debezium.converters.ByteArrayConverter',
    'io.debezium.converters.ByteBufferConverter',
  ],
  version: SHIPPED_VERSION,
}

const config = z
  .object({
    [DELEGATE]: field
      .text({
        doc: 'Class name of the converter for data that is not binary. Keys with this prefix are its configuration.',
        importance: 'LOW',
      })
      .optional(),
  })
  .catchall(z.string())
  .superRefine((settings, context) => {
    const name = settings[DELEGATE]
    if (name === undefined) return
    const delegate = delegateNamed(name)
    if (delegate === undefined) {
      const known = DELEGATES.map((one) => one.class).join(', ')
      field.addProblem(
        context,
        DELEGATE,
        `Invalid value ${name} for configuration ${DELEGATE}: expected a converter of Weir: ${known}. To use another ` +
          'one, install io.debezium:debezium-core and its jar, which then run in a JVM',
      )
      return
    }
    try {
      parseConfig(delegate.config, partOf(settings))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      for (const { key, message } of error.problems) field.addProblem(context, PREFIX + key, message)
    }
  })

/** Passes bytes through, and leaves everything else to another converter. */
export const binaryDataConverter = defineConverter({
  ...NAMES,
  summary: 'Passes bytes through unchanged, and converts other data with another converter.',
  notes: `
Made for outbox tables whose payload is binary, while heartbeats and other messages of the source are not. It reads bytes only. Without
\`delegate.converter.type\`, data that is not binary is an error of the record.
`,
  config,
  otherKeys: {
    known: [...new Set(DELEGATES.flatMap(({ config: { shape } }) => Object.keys(shape)))].map((key) =>
      `${PREFIX}${key}`.replaceAll('.', String.raw`\.`),
    ),
    former: {},
  },
  create(settings, use): ConverterInstance {
    const named = settings[DELEGATE]
    const delegate = named === undefined ? undefined : delegateNamed(named)
    const other = delegate?.create(parseConfig(delegate.config, partOf(settings)), use)
    return {
      fromConnect(topic, schema, value) {
        const bytes = binaryOf(schema, value)
        if (bytes !== undefined) return bytes
        if (other === undefined) {
          throw new DataError(`${typeName(schema, value)} in topic '${topic}' requires a ${DELEGATE} to be configured`)
        }
        return other.fromConnect(topic, schema, value)
      },
      toConnect: (_topic, bytes) => ({ schema: OPTIONAL_BYTES, value: bytes }),
    }
  },
})

export const binaryDataHeaderConverter = defineHeaderConverter({
  ...NAMES,
  summary: 'Passes bytes of headers through unchanged.',
  notes: 'Headers with other data are an error of the record, because Debezium has no delegate for headers.',
  config: z.object({}),
  create: () => ({
    fromConnect({ key, schema, value }) {
      const bytes = binaryOf(schema, value)
      if (bytes !== undefined) return bytes
      throw new DataError(`${typeName(schema, value)} in header '${key}' is not binary`)
    },
    toConnect: (key, bytes) => ({ key, schema: OPTIONAL_BYTES, value: bytes }),
  }),
})

/** Undefined for data that is not binary. A null with another schema is not binary, as in Debezium. */
function binaryOf(schema: Schema | null, value: unknown): Uint8Array | null | undefined {
  if (schema !== null && schema.type !== 'bytes') return undefined
  if (value === null || value === undefined) return null
  return value instanceof Uint8Array ? value : undefined
}

function typeName(schema: Schema | null, value: unknown): string {
  return schema === null
    ? `A value of class ${javaClass(value, schema)}`
    : `A value of type ${schema.type.toUpperCase()}`
}

function delegateNamed(name: string): Converter | undefined {
  return DELEGATES.find((one) => one.class === name || one.aliases?.includes(name))
}

/** The keys of the delegate, without their prefix. */
function partOf(settings: RawConfig | Readonly<Record<string, string | undefined>>): RawConfig {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) =>
      key.startsWith(PREFIX) && value !== undefined ? [[key.slice(PREFIX.length), value] as const] : [],
    ),
  )
}
