import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { avroConverter } from '../../../src/plugins/converters/avro/converter.ts'
import { avroLanguage } from '../../../src/plugins/converters/avro/language.ts'
import { jsonConverter } from '../../../src/plugins/converters/json/converter.ts'
import { jsonSchemaConverter } from '../../../src/plugins/converters/json-schema/converter.ts'
import { jsonLanguage } from '../../../src/plugins/converters/json-schema/language.ts'
import { protobufConverter } from '../../../src/plugins/converters/protobuf/converter.ts'
import { protobufLanguage } from '../../../src/plugins/converters/protobuf/language.ts'
import { createRegistryConverter } from '../../../src/plugins/converters/registry-converter.ts'
import { type ConverterInstance, parseConfig, type RawConfig, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { FakeRegistry } from '../../support/fake-registry.ts'

// What Confluent's own classes made of each case: recorded by test/env/java-converters.java, as CONTRIBUTING.md says.

/** A case writes what is given, or reads what others wrote. The rest is Java's answer. */
type Vector = {
  readonly type: 'AVRO' | 'JSON' | 'PROTOBUF'
  readonly config?: RawConfig
  readonly given?: unknown
  readonly schema?: string
  readonly references?: Readonly<Record<string, string>>
} & Outcome
type Outcome = {
  /** The schema that came to be in the registry, and what it imports. */
  readonly registered?: string
  readonly imports?: readonly string[]
  /** Behind the schema's id: JSON as text, else in hexadecimal digits. */
  readonly bytes?: string | null
  /** What was read, as JsonConverter writes it. */
  readonly read?: string | null
  readonly error?: string
  readonly readError?: string
}
type Converters = (config: RawConfig, registry: FakeRegistry) => ConverterInstance
/** Which cases Weir answers otherwise on purpose, by a part of the case's line, and why. */
type Differences = readonly (readonly [RegExp, string])[]

const jsonSchema: Converters = (config, registry) => {
  const settings = parseConfig(jsonSchemaConverter.config, { 'schema.registry.url': 'http://registry', ...config })
  return createRegistryConverter(registry, settings, false, jsonLanguage(settings))
}

const REFUSED = 'Java takes what does not fit for nothing, zero or false: here it is wrong data'
const JSON_DIFFERENCES: Differences = [
  [/\{\\"a\\":\{\\"type\\":\\"(integer|boolean)\\"\}\}\}","json":\{"a":("x"|"true"|1\.5)/, REFUSED],
  [/\{\\"a\\":\{\\"type\\":\\"string\\"\}\}\}","json":\{"a":1\},"bytes":"\{\\"a\\":1\}","read"/, REFUSED],
  [/\{\\"a\\":\{\\"type\\":\\"array\\",.*"json":\{"a":"x"/, REFUSED],
  [/"json":12345678901234567890/, 'Java lets it overflow'],
  [
    /"schema":"(true|\{\})"/,
    'schemas that say nothing are variants since 8.0: what a connector could do with is not in them',
  ],
  [
    /"schema":"\{(\\"oneOf\\":.*)?\\"type\\":\\"object\\",\\"additionalProperties\\":\{\\"type\\":\\"(integer|string)\\"\}\}(\]\})?","json"/,
    'Java loses the members: here it is a map',
  ],
  [
    /"\$ref\\":\\"#\/definitions\/A\\"\},\\"b\\"/,
    'Java takes a second use of a schema for one of itself, and marks it',
  ],
  [/"given":.*data\.Enum\.RED.*"enum\\":\[\],/, 'Java makes a schema of no words, which JSON Schema forbids'],
  [/"allOf\\":\[\{\\"type\\":\\"integer\\"\},\{\\"minimum/, 'Java refuses it'],
  [
    /"config":\{"use.optional.*OneOf.*field\.0"\}\],"name":"io.confluent.connect.json.OneOf","field":"f"\}/,
    'Java forgets that it is not required',
  ],
  [/"flatten.singleton.unions":"false".*\{\\"type\\":\\"null\\"\}\]/, 'a struct without fields, of which no value is'],
]

holdTo('json-schema', jsonSchema, JSON_DIFFERENCES)

const protobuf: Converters = (config, registry) => {
  const settings = parseConfig(protobufConverter.config, { 'schema.registry.url': 'http://registry', ...config })
  return createRegistryConverter(registry, settings, false, protobufLanguage(settings))
}

const avro: Converters = (config, registry) => {
  const settings = parseConfig(avroConverter.config, { 'schema.registry.url': 'http://registry', ...config })
  return createRegistryConverter(registry, settings, false, avroLanguage(settings))
}

const BAD_NAME = "Java registers names that Avro's specification and other clients refuse"
const NO_ENUM = 'Java fails over an enum that was told otherwise'
const NO_DEFAULT = 'Java fails over the default of a struct'
const AVRO_DIFFERENCES: Differences = [
  [
    /"given":\{"schema":null,"payload":("x"|12|\{)/,
    'records without a schema are refused, where Java has a schema for anything',
  ],
  [/"values":\{"type":"string"\},"field":"m".*"field":"n"/, 'Java takes entries of two maps for the same'],
  [/"keys":\{"type":"int32"\},"values":\{"type":"map"/, 'the same'],
  [/^\{"type":"AVRO","given":.*\],"name":"(a-b\.C|ünï\.Cöde|with space\.S|a\.\.b)"\},"payload"/, BAD_NAME],
  [/^\{"type":"AVRO","given":.*"field":"ä"/, BAD_NAME],
  [/"error":"NullPointerException: Type must have a name/, NO_ENUM],
  [
    /"given".*enum\.doc\.Color.*"enhanced|"enhanced.*"given".*enum\.doc\.Color/,
    'Java looks for the words about an enum by the name of the schema',
  ],
  [
    /"name":"shop.Inner","(doc|optional)".*"field":"b".*"name":"n\.O"/,
    'Java forgets what the second use of a struct says',
  ],
  [/"name":"shop.Inner","parameters":.*"name":"n\.O"/, 'Java writes two structs of one name'],
  [/"schema":"\[\\"null\\".*"json":null,/, 'Java fails over a null that is all of a record'],
  [
    /"generalized.*"schema".*\[\\"null\\",\\"(int|string)\\",.*"readError"/,
    'Java counts null where it reads, and not where it looks',
  ],
  [/"readError":"DataException: Mismatching schema/, NO_DEFAULT],
  [/avro\.java\.string/, 'what Java generates classes by is not kept'],
]

holdTo('avro', avro, AVRO_DIFFERENCES)

const NO_NAME = 'Java registers names that no compiler takes'
const PROTOBUF_DIFFERENCES: Differences = [
  [
    /"given":\{"schema":\{"type":"(int32|int64|bytes)","name":"org/,
    'Java writes a date, say, where its schema says a number',
  ],
  [/"name":"a-b.C"/, NO_NAME],
  [/"name":"with space.S"/, NO_NAME],
  [/"name":"a\.\.b"/, NO_NAME],
  [/"name":"X","field":"a".*"field":"q"/, 'Java writes only one of two messages of a name'],
  [/"name":null,"field":"f"/, 'Java makes no enum of a schema without a name'],
  [/Enum":"a\.b\.Color"/, 'Java loses the name of the enum'],
  [/"name":"MyUnion","parameters"/, 'Java fails over a union of another format'],
  [
    /"optional":true,"field":"b"\}\],"name":"io.confluent.connect.protobuf.Union.choice"/,
    'Java needs the number of each field of a oneof',
  ],
  [
    /"optional":true,"default":5,"field":"a".*"ignore.default|"ignore.default.*"optional":true,"default":5,"field":"a"/,
    'Java reads defaults that no registered schema has, as long as it runs',
  ],
  [/"values":\{"type":"int32","optional":true,"default":5\}/, 'the same'],
]

holdTo('protobuf', protobuf, PROTOBUF_DIFFERENCES)

function holdTo(format: string, create: Converters, differences: Differences): void {
  const lines = readFileSync(join(import.meta.dirname, `confluent-${format}.golden.json`), 'utf8')
    .split('\n')
    .slice(1, -2)
    .map((line) => line.replace(/,$/, ''))
  const differing = (line: string) => differences.find(([pattern]) => pattern.test(line))
  const same = lines.filter((line) => differing(line) === undefined)

  describe(`Confluent's converter of ${format}`, () => {
    it.each(same)('%s', async (line) => {
      const vector = JSON.parse(line) as Vector
      expect(shownOf(await outcomeOf(line, vector, create))).toEqual(shownOf(vector))
    })

    it.each(differences)('is left on purpose: %s (%s)', async (pattern) => {
      const these = lines.filter((line) => differing(line)?.[0] === pattern)
      expect(these).not.toEqual([])
      for (const line of these) {
        const vector = JSON.parse(line) as Vector
        expect(shownOf(await outcomeOf(line, vector, create))).not.toEqual(shownOf(vector))
      }
    })
  })
}

/** Errors are ours; the order of parameters says nothing in Connect. */
function shownOf({ registered, imports, bytes, read, error, readError }: Outcome): object {
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

async function outcomeOf(line: string, vector: Vector, create: Converters): Promise<Outcome> {
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

/** The envelope as it stands in the line: its numbers say by their digits what they are. */
async function written(line: string, converter: ConverterInstance): Promise<Buffer | null> {
  const given = /"given":(.*?)(?:,"(?:registered|bytes|error)":.*)?\}$/.exec(line)![1]!
  const { schema, value } = await envelopes.toConnect('t', Buffer.from(given))
  return (await converter.fromConnect('t', schema, value)) as Buffer | null
}

async function foreign({ type, schema, references = {}, bytes }: Vector, registry: FakeRegistry): Promise<Buffer> {
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
