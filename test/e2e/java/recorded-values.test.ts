import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChainItem } from '../../../src/java/chain-codec.ts'
import { type HostAddress, HostConnection } from '../../../src/java/host-connection.ts'
import { hostAddress, JavaHost } from '../../../src/java/java-host.ts'
import { RecordChain } from '../../../src/java/record-chain.ts'
import { jsonConverter } from '../../../src/plugins/converters/json/json-converter.ts'
import { parseConfig, type SchemaAndValue, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { recordedValues } from '../../support/recorded-values.ts'

const javaHost = await real('javaHost')

const CONVERTER_CONFIG = { 'schemas.enable': 'true', 'replace.null.with.default': 'false' }
const NO_BYTES = { key: null, value: null, headers: [], isSelected: false }
const EMPTY = { topic: 't', key: null, keySchema: null, headers: [], timestampMs: null }

/** Java cannot write this decimal, because its scale is not that of the schema. */
const NOT_WRITTEN = /"scale":"2"\}\},"payload":1\}/
/** Texts that the two JSON converters read differently, with the reason. */
const READ_DIFFERENTLY: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/9223372036854776000/, 'a recording was read with JSON.parse, which rounds; Java reads the number as another one'],
  [/"type":"double".*"payload":-0\.0/, 'Weir reads a zero without its sign'],
  [NOT_WRITTEN, 'Java keeps the scale of the text'],
]
const recorded = recordedValues()

describeOn([javaHost], 'the recorded values of Java’s data classes', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-recorded-'))
  const ours = jsonConverter.create(parseConfig(jsonConverter.config, CONVERTER_CONFIG), {
    ...UNRESTRICTED,
    isKey: false,
  })
  let host: JavaHost
  let address: HostAddress
  let reading: RecordChain
  let writing: RecordChain

  /** Kafka's own converter, on the other side of the boundary. */
  const openConverter = (isSink: boolean) => {
    const step = { role: 'value_converter', location: javaHost.address.jars.json, isConditional: false } as const
    const converter = { ...step, class: 'org.apache.kafka.connect.json.JsonConverter', config: CONVERTER_CONFIG }
    const steps = [{ ...converter, isNegated: false }]
    return RecordChain.open(address, { name: 'recorded-0', isSink, steps, retryTimeoutMs: 0, retryDelayMsMax: 0 })
  }

  beforeAll(async () => {
    address = hostAddress(directory, 'recorded')
    const log = { linesPerSecond: 100, bytesPerSecond: 65_536 }
    host = await JavaHost.start({
      runtime: { home: '', hostDirectory: javaHost.address.directory, heapMax: '256m', options: [], log },
      location: { path: javaHost.address.jars.json, jars: [javaHost.address.jars.json] },
      address,
      startMsMax: 60_000,
      onLog: () => undefined,
    })
    reading = await openConverter(true)
    writing = await openConverter(false)
  })

  afterAll(async () => {
    reading?.close()
    writing?.close()
    await host?.stop()
    rmSync(directory, { recursive: true })
  })

  /** Null for a text that Java rejects. */
  async function readInJava(json: readonly (string | null)[]): Promise<readonly (SchemaAndValue | null)[]> {
    const items: ChainItem[] = json.map((text) => ({
      ...NO_BYTES,
      record: { ...EMPTY, value: null, valueSchema: null },
      origin: { topic: '', partition: 0, offset: 0 },
      value: text === null ? null : Buffer.from(text),
    }))
    const { outcomes } = await reading.apply(items)
    return items.map(({ record }, at) => {
      const outcome = outcomes[at]!
      if (typeof outcome === 'object') return null
      return { schema: record.valueSchema, value: record.value }
    })
  }

  async function writeInJava(data: readonly SchemaAndValue[]): Promise<readonly (string | null)[]> {
    const items: ChainItem[] = data.map(({ schema, value }) => {
      const record = { ...EMPTY, value, valueSchema: schema }
      return { ...NO_BYTES, record, origin: { ...record, sourcePartition: {}, sourceOffset: {} } }
    })
    const { outcomes } = await writing.apply(items)
    return items.map(({ value }, at) => {
      const outcome = outcomes[at]!
      if (typeof outcome === 'object') throw outcome.failed
      return value && Buffer.from(value).toString()
    })
  }

  async function echo(data: readonly SchemaAndValue[]): Promise<readonly SchemaAndValue[]> {
    const connection = await HostConnection.open(address, { timeoutMs: 10_000 })
    const body = await connection.request('data.echo', (writer) => {
      writer.varint(data.length)
      for (const { schema, value } of data) {
        writer.schema(schema)
        writer.value(schema, value)
      }
    })
    connection.close()
    return Array.from({ length: body.varint() }, () => {
      body.uint8()
      const schema = body.schema()
      return { schema, value: body.value(schema) }
    })
  }

  /** Null for a text that Weir rejects. */
  function readHere(json: string): SchemaAndValue | null {
    try {
      return ours.toConnect('t', Buffer.from(json)) as SchemaAndValue
    } catch {
      return null
    }
  }

  it('are the same after they were read in Java as when they are read here', async () => {
    const compared = recorded.filter(({ json }) => !READ_DIFFERENTLY.some(([pattern]) => pattern.test(json)))
    expect(compared.length).toBeGreaterThan(1_500)
    expect(await readInJava(texts(compared))).toEqual(texts(compared).map(readHere))
  })

  it('are written in Java as they were recorded', async () => {
    // Decimals as numbers are written only with `decimal.format=NUMERIC`.
    const writtenByJava = recorded.filter(
      ({ isWrittenByJava, json }) => isWrittenByJava && !/data\.Decimal.*"payload":-?\d/.test(json),
    )
    expect(writtenByJava.length).toBeGreaterThan(900)
    const written = await writeInJava(dataOf(await readInJava(texts(writtenByJava))))
    // Schemas that differ only in the order of their parameters are equal in Java, and cross as one.
    expect(written.map((text) => JSON.parse(text ?? ''))).toEqual(writtenByJava.map(({ json }) => JSON.parse(json)))
  })

  it('are the same after they crossed to Java and back, once and as text', async () => {
    const data = dataOf(await readInJava(texts(recorded)))
    expect(data.length).toBeGreaterThan(1_500)
    expect(await echo(data)).toEqual(data)
    const writable = dataOf(await readInJava(texts(recorded.filter(({ json }) => !NOT_WRITTEN.test(json)))))
    expect(dataOf(await readInJava(await writeInJava(writable)))).toEqual(writable)
  })
})

function texts(values: readonly { readonly json: string }[]): readonly string[] {
  return values.map(({ json }) => json)
}

/** Without those that Java rejects. */
function dataOf(read: readonly (SchemaAndValue | null)[]): readonly SchemaAndValue[] {
  return read.filter((one) => one !== null)
}
