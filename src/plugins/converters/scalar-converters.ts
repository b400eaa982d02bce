import { javaClass } from '../../java-compat/java-class-name.ts'
import { toBuffer } from '../../sdk/bytes.ts'
import {
  type Converter,
  DataError,
  defineConverter,
  int64,
  OPTIONAL_BOOLEAN,
  type Schema,
  type SchemaType,
  z,
} from '../../sdk/index.ts'
import { SHIPPED_VERSION } from '../shipped-version.ts'
import { asHeaderConverter } from './header-converter.ts'

/** The binary form of a number, big-endian like Kafka's serializers. */
type NumberForm = {
  readonly name: string
  readonly type: SchemaType
  readonly width: number
  /** Throws a `RangeError` if the number does not fit. */
  readonly write: (bytes: Buffer, value: number | bigint) => unknown
  readonly read: (bytes: Buffer) => number | bigint
}

const FORMS: readonly NumberForm[] = [
  {
    name: 'Short',
    type: 'int16',
    width: 2,
    write: (bytes, value) => bytes.writeInt16BE(Number(value)),
    read: (bytes) => bytes.readInt16BE(),
  },
  {
    name: 'Integer',
    type: 'int32',
    width: 4,
    write: (bytes, value) => bytes.writeInt32BE(Number(value)),
    read: (bytes) => bytes.readInt32BE(),
  },
  {
    name: 'Long',
    type: 'int64',
    width: 8,
    write: (bytes, value) => bytes.writeBigInt64BE(BigInt(value)),
    read: (bytes) => int64(bytes.readBigInt64BE()),
  },
  {
    name: 'Float',
    type: 'float32',
    width: 4,
    write: (bytes, value) => bytes.writeFloatBE(Number(value)),
    read: (bytes) => bytes.readFloatBE(),
  },
  {
    name: 'Double',
    type: 'float64',
    width: 8,
    write: (bytes, value) => bytes.writeDoubleBE(Number(value)),
    read: (bytes) => bytes.readDoubleBE(),
  },
]

/** Converters for Kafka's number and boolean serializers. */
export const scalarConverters: readonly Converter[] = [...FORMS.map(numberConverter), booleanConverter()]

export const scalarHeaderConverters = scalarConverters.map((converter) => asHeaderConverter(converter))

function numberConverter({ name, type, width, write, read }: NumberForm): Converter {
  const word = name.toLowerCase()
  const optional: Schema = { type, optional: true }
  return defineConverter({
    ...info(`${name}Converter`, `Converts to and from serialized ${type} values: ${width} bytes, big-endian.`),
    notes: `A number without a schema is accepted if it is in the range of ${type}.`,
    create: () => ({
      fromConnect(_topic, schema, value) {
        if (value === null || value === undefined) return null
        if (!isNumber(value, schema, type)) {
          throw new DataError(`Failed to serialize to ${word} (was class ${javaClass(value, schema)})`)
        }
        const bytes = Buffer.alloc(width)
        try {
          write(bytes, value)
          return bytes
        } catch (error) {
          throw new DataError(`Failed to serialize to ${word}: ${(error as Error).message}`, { cause: error })
        }
      },
      toConnect(_topic, bytes) {
        if (bytes === null) return { schema: optional, value: null }
        if (bytes.length === width) return { schema: optional, value: read(toBuffer(bytes)) }
        throw new DataError(`Failed to deserialize ${word}: expected ${width} bytes, got ${bytes.length}`)
      },
    }),
  })
}

/** The schema must have exactly this type: Java's serializers cast and do not convert. */
function isNumber(value: unknown, schema: Schema | null, type: SchemaType): value is number | bigint {
  if (typeof value !== 'number' && typeof value !== 'bigint') return false
  return schema === null ? true : javaClass(value, schema) === javaClass(value, { type })
}

function booleanConverter(): Converter {
  return defineConverter({
    ...info('BooleanConverter', 'Converts to and from serialized boolean values: one byte, 1 or 0.'),
    create: () => ({
      fromConnect(_topic, schema, value) {
        if (schema !== null && schema.type !== 'boolean') {
          throw new DataError(`Invalid schema type for BooleanConverter: ${schema.type.toUpperCase()}`)
        }
        if (value === null || value === undefined) return null
        if (typeof value === 'boolean') return Buffer.of(Number(value))
        const found = javaClass(value, schema)
        throw new DataError(`BooleanConverter is not compatible with objects of type class ${found}`)
      },
      toConnect(_topic, bytes) {
        if (bytes === null) return { schema: OPTIONAL_BOOLEAN, value: null }
        const [byte = -1] = bytes
        if (bytes.length === 1 && byte <= 1) return { schema: OPTIONAL_BOOLEAN, value: byte === 1 }
        const found = Buffer.from(bytes).toString('hex', 0, 8)
        throw new DataError(`Failed to deserialize boolean: expected one byte, 0 or 1, got '${found}'`)
      },
    }),
  })
}

function info(name: string, summary: string) {
  const aliases = [`org.apache.kafka.connect.converters.${name}`]
  return { class: name, aliases, version: SHIPPED_VERSION, summary, config: z.object({}) }
}
