import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { avroConverter } from '../../../src/plugins/converters/avro/avro-converter.ts'
import { avroData } from '../../../src/plugins/converters/avro/avro-data.ts'
import { jsonConverter } from '../../../src/plugins/converters/json/json-converter.ts'
import { jsonSchemaConverter } from '../../../src/plugins/converters/json-schema/json-schema-converter.ts'
import { jsonSchemaData } from '../../../src/plugins/converters/json-schema/json-schema-data.ts'
import { protobufConverter } from '../../../src/plugins/converters/protobuf/protobuf-converter.ts'
import { protobufData } from '../../../src/plugins/converters/protobuf/protobuf-data.ts'
import { createRegistryConverter } from '../../../src/plugins/converters/registry-converter.ts'
import { type ConverterInstance, parseConfig, type RawConfig, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { FakeRegistry } from '../../support/fake-registry.ts'

// What Confluent's own classes made of each case: recorded by test/env/java-converters.java, as CONTRIBUTING.md says.

/** A case writes `given`, or reads bytes with a schema of another producer. `Outcome` is the result of Java. */
type RecordedCase = {
  readonly type: 'AVRO' | 'JSON' | 'PROTOBUF'
  readonly config?: RawConfig
  readonly given?: unknown
  readonly schema?: string
  readonly references?: Readonly<Record<string, string>>
} & Outcome
type Outcome = {
  /** The registered schema and its imports. */
  readonly registered?: string
  readonly imports?: readonly string[]
  /** The bytes after the schema id: JSON as text, other formats in hexadecimal digits. */
  readonly bytes?: string | null
  /** The value that was read, serialized by JsonConverter. */
  readonly read?: string | null
  readonly error?: string
  readonly readError?: string
}
type Converters = (config: RawConfig, registry: FakeRegistry) => ConverterInstance
/** Cases in which Weir differs on purpose: a pattern for the line of the case, and the reason. */
type Differences = readonly (readonly [RegExp, string])[]

const jsonSchema: Converters = (config, registry) => {
  const settings = parseConfig(jsonSchemaConverter.config, { 'schema.registry.url': 'http://registry', ...config })
  return createRegistryConverter(registry, settings, false, jsonSchemaData(settings))
}

const INVALID_VALUE = 'Java reads an invalid value as null, zero or false; Weir rejects it'
const JSON_DIFFERENCES: Differences = [
  [/\{\\"a\\":\{\\"type\\":\\"(integer|boolean)\\"\}\}\}","json":\{"a":("x"|"true"|1\.5)/, INVALID_VALUE],
  [/\{\\"a\\":\{\\"type\\":\\"string\\"\}\}\}","json":\{"a":1\},"bytes":"\{\\"a\\":1\}","read"/, INVALID_VALUE],
  [/\{\\"a\\":\{\\"type\\":\\"array\\",.*"json":\{"a":"x"/, INVALID_VALUE],
  [/"json":12345678901234567890/, 'the number overflows in Java'],
  [/"schema":"(true|\{\})"/, 'schemas without a type are variants since 8.0, which connectors cannot use'],
  [
    /"schema":"\{(\\"oneOf\\":.*)?\\"type\\":\\"object\\",\\"additionalProperties\\":\{\\"type\\":\\"(integer|string)\\"\}\}(\]\})?","json"/,
    'Java loses the members; Weir reads a map',
  ],
  [/"\$ref\\":\\"#\/definitions\/A\\"\},\\"b\\"/, 'Java marks a second use of a schema as recursive'],
  [/"given":.*data\.Enum\.RED.*"enum\\":\[\],/, 'Java writes an enum without values, which JSON Schema forbids'],
  [/"allOf\\":\[\{\\"type\\":\\"integer\\"\},\{\\"minimum/, 'Java rejects the schema'],
  [
    /"config":\{"use.optional.*OneOf.*field\.0"\}\],"name":"io.confluent.connect.json.OneOf","field":"f"\}/,
    'Java ignores that the member is not required',
  ],
  [
    /"flatten.singleton.unions":"false".*\{\\"type\\":\\"null\\"\}\]/,
    'Java reads a struct without fields, which has no valid value',
  ],
]

compareWithRecording('json-schema', jsonSchema, JSON_DIFFERENCES)

const protobuf: Converters = (config, registry) => {
  const settings = parseConfig(protobufConverter.config, { 'schema.registry.url': 'http://registry', ...config })
  return createRegistryConverter(registry, settings, false, protobufData(settings))
}

const avro: Converters = (config, registry) => {
  const settings = parseConfig(avroConverter.config, { 'schema.registry.url': 'http://registry', ...config })
  return createRegistryConverter(registry, settings, false, avroData(settings))
}

const BAD_NAME = "Java registers names that Avro's specification and other clients reject"
const NO_ENUM = 'Java fails for an enum that was configured differently'
const NO_DEFAULT = 'Java fails for the default of a struct'
const AVRO_DIFFERENCES: Differences = [
  [
    /"given":\{"schema":null,"payload":("x"|12|\{)/,
    'Weir rejects records without a schema, for which Java uses a schema of any type',
  ],
  [/"values":\{"type":"string"\},"field":"m".*"field":"n"/, 'Java uses the same name for the entries of two maps'],
  [/"keys":\{"type":"int32"\},"values":\{"type":"map"/, 'the same'],
  [/^\{"type":"AVRO","given":.*\],"name":"(a-b\.C|with space\.S|a\.\.b)"\},"payload"/, BAD_NAME],
  [/"error":"NullPointerException: Type must have a name/, NO_ENUM],
  [
    /"given".*enum\.doc\.Color.*"enhanced|"enhanced.*"given".*enum\.doc\.Color/,
    'Java looks up the documentation of an enum by the name of the schema',
  ],
  [
    /"name":"shop.Inner","(doc|optional)".*"field":"b".*"name":"n\.O"/,
    'Java discards the properties of the second use of a struct',
  ],
  [/"name":"shop.Inner","parameters":.*"name":"n\.O"/, 'Java writes two structs with the same name'],
  [/"schema":"\[\\"null\\".*"json":null,/, 'Java fails for a record whose value is a null with a schema'],
  [
    /"generalized.*"schema".*\[\\"null\\",\\"(int|string)\\",.*"readError"/,
    'Java numbers the branches of a union differently for the schema and the data',
  ],
  [/"readError":"DataException: Mismatching schema/, NO_DEFAULT],
  [/avro\.java\.string/, 'avro.java.string, which only generated Java classes use, is not preserved'],
]

compareWithRecording('avro', avro, AVRO_DIFFERENCES)

const NO_NAME = 'Java registers names that are invalid in Protobuf'
const PROTOBUF_DIFFERENCES: Differences = [
  [
    /"given":\{"schema":\{"type":"(int32|int64|bytes)","name":"org/,
    'Java writes logical types with the schema of a number',
  ],
  [/"name":"a-b.C"/, NO_NAME],
  [/"name":"with space.S"/, NO_NAME],
  [/"name":"a\.\.b"/, NO_NAME],
  [/"name":"X","field":"a".*"field":"q"/, 'Java writes only one of two messages with the same name'],
  [/"name":null,"field":"f"/, 'Java does not write a schema without a name as an enum'],
  [/Enum":"a\.b\.Color"/, 'Java loses the name of the enum'],
  [/"name":"MyUnion","parameters"/, 'Java fails for a union that was read from another format'],
  [
    /"optional":true,"field":"b"\}\],"name":"io.confluent.connect.protobuf.Union.choice"/,
    'Java requires the number of each field of a oneof',
  ],
  [
    /"optional":true,"default":5,"field":"a".*"ignore.default|"ignore.default.*"optional":true,"default":5,"field":"a"/,
    'Java reads defaults that are not in the registered schema from its cache',
  ],
  [/"values":\{"type":"int32","optional":true,"default":5\}/, 'the same'],
]

compareWithRecording('protobuf', protobuf, PROTOBUF_DIFFERENCES)

function compareWithRecording(format: string, create: Converters, differences: Differences): void {
  const lines = readFileSync(join(import.meta.dirname, `confluent-${format}.golden.json`), 'utf8')
    .split('\n')
    .slice(1, -2)
    .map((line) => line.replace(/,$/, ''))
  const byDifference = Map.groupBy(lines, (line) => differences.find(([pattern]) => pattern.test(line)))
  // Vitest sends the name of each test to its main process several times, so it is short.
  const numberOf = new Map(lines.map((line, index) => [line, index + 2]))
  const same = (byDifference.get(undefined) ?? []).map((line) => [numberOf.get(line)!, line] as const)

  describe(`the ${format} converter compared with Confluent's`, { tags: ['slow'] }, () => {
    it.each(same)('has the recorded result of line %i', async (_number, line) => {
      const vector = JSON.parse(line) as RecordedCase
      expect(comparable(await outcomeOf(line, vector, create)), line).toEqual(comparable(vector))
    })

    it.each(differences.map((difference) => [...difference, difference] as const))(
      'differs on purpose for %s: %s',
      async (_pattern, _reason, difference) => {
        const these = byDifference.get(difference) ?? []
        expect(these).not.toEqual([])
        for (const line of these) {
          const vector = JSON.parse(line) as RecordedCase
          expect(comparable(await outcomeOf(line, vector, create))).not.toEqual(comparable(vector))
        }
      },
    )
  })
}

/** Compares only whether there is an error, and ignores the order of parameters, which has no meaning in Connect. */
function comparable({ registered, imports, bytes, read, error, readError }: Outcome): object {
  if (error !== undefined) return { error: true }
  const wasRead = readError === undefined ? { read: read === null ? null : sorted(read!) } : { readError: true }
  return { registered, imports, bytes, ...wasRead }
}

function sorted(envelope: string): string {
  return envelope.replace(/"parameters":\{([^{}]*)\}/g, (_all, inner: string) => {
    const pairs = inner.match(/"(?:[^"\\]|\\.)*":"(?:[^"\\]|\\.)*"/g) ?? []
    return `"parameters":{${pairs.sort().join(',')}}`
  })
}

async function outcomeOf(line: string, vector: RecordedCase, create: Converters): Promise<Outcome> {
  const registry = new FakeRegistry()
  const converter = create(vector.config ?? {}, registry)
  try {
    const wire = vector.schema === undefined ? await written(line, converter) : await foreign(vector, registry)
    const bytes = wire === null ? null : wire.subarray(5).toString(vector.type === 'JSON' ? 'utf8' : 'hex')
    const [made] = vector.schema === undefined ? (registry.schemas.get('t-value') ?? []) : []
    return {
      ...(made && { registered: made.schema }),
      ...(made?.references?.length && { imports: made.references.map(({ name }) => name) }),
      bytes,
      ...(await readBack(converter, wire)),
    }
  } catch (error) {
    return { error: dataError(error) }
  }
}

async function readBack(converter: ConverterInstance, wire: Buffer | null): Promise<Outcome> {
  try {
    const { schema, value } = await converter.toConnect('t', wire)
    const text = (await envelopes.fromConnect('t', schema, value)) as Buffer | null
    return { read: text === null ? null : text.toString() }
  } catch (error) {
    return { readError: dataError(error) }
  }
}

const envelopes = jsonConverter.create(parseConfig(jsonConverter.config, { 'replace.null.with.default': 'false' }), {
  ...UNRESTRICTED,
  isKey: false,
})

/** Reads `given` from the text of the line, because JSON.parse would lose the notation of numbers. */
async function written(line: string, converter: ConverterInstance): Promise<Buffer | null> {
  const given = /"given":(.*?)(?:,"(?:registered|bytes|error)":.*)?\}$/.exec(line)![1]!
  const { schema, value } = await envelopes.toConnect('t', Buffer.from(given))
  return (await converter.fromConnect('t', schema, value)) as Buffer | null
}

async function foreign(
  { type, schema, references = {}, bytes }: RecordedCase,
  registry: FakeRegistry,
): Promise<Buffer> {
  const all = []
  for (const [name, text] of Object.entries(references)) {
    await registry.register(name, { schemaType: type, schema: text, references: [...all] })
    all.push({ name, subject: name, version: 1 })
  }
  const { id } = await registry.register('t-value', { schemaType: type, schema: schema!, references: all })
  const head = Buffer.alloc(5)
  head.writeInt32BE(id, 1)
  return Buffer.concat([head, Buffer.from(bytes ?? '', type === 'JSON' ? 'utf8' : 'hex')])
}

function dataError(error: unknown): string {
  expect(error).toMatchObject({ code: 'data' })
  return (error as Error).message
}
