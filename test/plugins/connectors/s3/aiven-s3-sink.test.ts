import { Readable } from 'node:stream'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import avsc from 'avsc'
import { uncompressSync } from 'snappy'
import { describe, expect, it } from 'vitest'
import { aivenSinkSettings } from '../../../../src/plugins/connectors/s3/aiven-s3-sink.ts'
import { aivenS3SinkConfig } from '../../../../src/plugins/connectors/s3/aiven-s3-sink-config.ts'
import { INT32, OPTIONAL_STRING, parseConfig, type SinkRecord, STRING, struct } from '../../../../src/sdk/index.ts'
import { MemoryBucket } from '../../../support/memory-object-store.ts'
import { PartitionLog } from '../../../support/object-sink-run.ts'

type Config = Readonly<Record<string, string>>
const BUCKET = { 'aws.s3.bucket.name': 'lake' }
const PLAIN = { ...BUCKET, 'file.compression.type': 'none' }

/** Puts records, commits offsets and returns the objects as text. */
async function stored(
  config: Config,
  records: readonly Partial<SinkRecord>[],
  log = new PartitionLog(),
): Promise<Readonly<Record<string, string>>> {
  const bucket = await bucketOf(config, records, log)
  return Object.fromEntries([...bucket.objects].map(([key, bytes]) => [key, bytes.toString()]))
}

async function bucketOf(config: Config, records: readonly Partial<SinkRecord>[], log = new PartitionLog()) {
  const bucket = new MemoryBucket()
  const sink = log.start(aivenSinkSettings(parseConfig(aivenS3SinkConfig, config)), bucket)
  await sink.open([log.at])
  await sink.put(records.map((changed, offset) => log.record(offset, changed)))
  await log.commit(sink)
  return bucket
}

const bytes = (text: string) => Buffer.from(text)

describe('the files of the Aiven S3 sink', () => {
  const headers = [{ key: 'h', value: bytes('1'), schema: null }]
  const [first, second] = [
    { key: 'a', value: bytes('x,y'), timestampMs: 1_600_000_000_000, headers },
    { key: null, value: null, timestampMs: null, headers: [] },
  ]

  it('have lines of CSV with base64, without a newline at the end', async () => {
    const fields = { 'format.output.fields': 'key,value,offset,timestamp,headers' }
    expect(await stored({ ...PLAIN, ...fields }, [first, second])).toEqual({
      'orders-0-0': 'YQ==,eCx5,0,1600000000000,aA==:MQ==;\n,,1,,',
    })
    expect(await stored({ ...PLAIN, 'format.output.fields.value.encoding': 'none' }, [first, first])).toEqual({
      'orders-0-0': 'x,y\nx,y',
    })
  })

  it('have values that are bytes with CSV', async () => {
    const log = new PartitionLog()
    expect(await stored(PLAIN, [{ value: 'text' }, first], log)).toEqual({ 'orders-0-1': 'eCx5' })
    expect(log.rejected.map(({ offset }) => offset)).toEqual([0])
  })

  it('have objects with JSON', async () => {
    const fields = { 'format.output.fields': 'key,value,offset,timestamp,headers' }
    const valueSchema = struct('V', { n: INT32, note: OPTIONAL_STRING })
    const records = [{ ...first, value: { n: 1 }, valueSchema }, second]
    const lines = [
      '{"key":"a","value":{"n":1,"note":null},"offset":0,"timestamp":"2020-09-13T12:26:40Z","headers":[{"key":"h","value":"MQ=="}]}',
      '{"key":null,"value":null,"offset":1,"timestamp":null,"headers":[]}',
    ]
    const jsonl = await stored({ ...PLAIN, ...fields, 'format.output.type': 'jsonl' }, records)
    expect(jsonl).toEqual({ 'orders-0-0': lines.join('\n') })
    const json = await stored({ ...PLAIN, ...fields, 'format.output.type': 'json' }, records)
    expect(json).toEqual({ 'orders-0-0': `[\n${lines.join(',\n')}\n]` })
    const bare = { ...PLAIN, 'format.output.type': 'jsonl', 'format.output.envelope': 'false' }
    expect(await stored(bare, [{ value: { n: 1 } }, { value: 'text' }])).toEqual({ 'orders-0-0': '{"n":1}\n"text"' })
  })

  it('have records of Avro with the stored fields, and begin anew with another schema', async () => {
    const valueSchema = struct('shop.Order', { n: INT32 })
    const record = { key: 'a', keySchema: STRING, value: { n: 7 }, valueSchema, headers: [], timestampMs: 5 }
    const other = { ...record, valueSchema: struct('shop.Order', { n: INT32, note: OPTIONAL_STRING }) }
    const config = {
      ...PLAIN,
      'format.output.type': 'avro',
      'format.output.fields': 'key,value,offset,timestamp,headers',
    }
    const bucket = await bucketOf(config, [record, record, other])
    expect([...bucket.objects.keys()]).toEqual(['orders-0-0.avro', 'orders-0-2.avro'])
    const [read] = await Readable.from([bucket.objects.get('orders-0-2.avro')!])
      .pipe(new avsc.streams.BlockDecoder())
      .toArray()
    const expected = { key: 'a', value: { n: 7, note: null }, offset: 2, timestamp: 5, headers: null }
    expect(JSON.parse(JSON.stringify(read))).toEqual(expected)
    const bare = await bucketOf({ ...PLAIN, 'format.output.type': 'avro', 'format.output.envelope': 'false' }, [record])
    const decoder = Readable.from([...bare.objects.values()]).pipe(new avsc.streams.BlockDecoder())
    expect(JSON.parse(JSON.stringify(await decoder.toArray()))).toEqual([{ n: 7 }])
  })

  it.each<[string, string, (file: Buffer) => string]>([
    ['gzip', 'orders-0-0.gz', (file) => gunzipSync(file).toString()],
    ['zstd', 'orders-0-0.zst', (file) => zstdDecompressSync(file).toString()],
    ['snappy', 'orders-0-0.snappy', (file) => uncompressSync(file.subarray(20), { asBuffer: false }) as string],
  ])('are compressed with %s', async (type, key, decompress) => {
    const { objects } = await bucketOf({ ...BUCKET, 'file.compression.type': type }, [first, first])
    expect([...objects.keys()]).toEqual([key])
    expect(decompress(objects.get(key)!)).toBe('eCx5\neCx5')
  })
})

describe('the names of the files of the Aiven S3 sink', () => {
  const values = (...texts: readonly string[]) =>
    texts.map((text) => ({ key: text, keySchema: STRING, value: bytes(text) }))
  const named = (template: string, rest: Config = {}) => ({ ...PLAIN, 'file.name.template': template, ...rest })

  it('have the variables of the template, padded if that is set', async () => {
    const template = 'a/{{ topic }}/{{partition:padding=true}}-{{start_offset:padding=true}}.csv'
    expect(Object.keys(await stored(named(template), values('x')))).toEqual([
      'a/orders/0000000000-00000000000000000000.csv',
    ])
  })

  it('have the hour of each record, in the time zone', async () => {
    const template =
      '{{timestamp:unit=YYYY}}/{{timestamp:unit=MM}}/{{timestamp:unit=dd}}/{{timestamp:unit=HH}}/{{topic}}-{{partition}}-{{start_offset}}'
    const zone = { 'file.name.timestamp.source': 'event', 'file.name.timestamp.timezone': 'Europe/Berlin' }
    const records = [0, 1, 3_600_000].map((ms) => ({ value: bytes('x'), timestampMs: Date.UTC(2026, 0, 31, 22) + ms }))
    expect(Object.keys(await stored(named(template, zone), records))).toEqual([
      '2026/01/31/23/orders-0-0',
      '2026/02/01/00/orders-0-2',
    ])
  })

  it('have a number of records, and those of a key', async () => {
    const max = { 'file.max.records': '2' }
    expect(await stored(named('{{topic}}-{{partition}}-{{start_offset}}', max), values('a', 'b', 'c'))).toEqual({
      'orders-0-0': 'YQ==\nYg==',
      'orders-0-2': 'Yw==',
    })
    expect(await stored(named('{{topic}}-{{partition}}-{{key}}-{{start_offset}}'), values('a', 'b', 'a'))).toEqual({
      'orders-0-a-0': 'YQ==\nYQ==',
      'orders-0-b-1': 'Yg==',
    })
  })

  it('have the last record of a key', async () => {
    const records = [
      { key: 'a', keySchema: STRING, value: bytes('1') },
      { key: null, value: bytes('2') },
      { key: 7, keySchema: INT32, value: bytes('3') },
      { key: 'a', keySchema: STRING, value: bytes('4') },
    ]
    expect(await stored(named('k/{{key}}'), records)).toEqual({ 'k/a': 'NA==', 'k/null': 'Mg==', 'k/7': 'Mw==' })
  })

  it('keep the last record that can be stored', async () => {
    const log = new PartitionLog()
    const [record] = values('a')
    expect(await stored(named('{{key}}'), [record!, { ...record, value: 'text' }], log)).toEqual({ a: 'YQ==' })
    expect(log.rejected).toHaveLength(1)
  })

  it('follow a prefix instead of the template', async () => {
    const log = new PartitionLog()
    log.nowMs = Date.UTC(2026, 0, 31, 12)
    expect(Object.keys(await stored({ ...PLAIN, 'aws.s3.prefix': 'p/{{utc_date}}/' }, values('a'), log))).toEqual([
      'p/2026-01-31/orders-0-00000000000000000000',
    ])
    expect(Object.keys(await stored({ aws_s3_bucket: 'lake', aws_s3_prefix: 'p/' }, values('a')))).toEqual([
      'p/orders-0-00000000000000000000.gz',
    ])
  })

  it('tell which uploads are of a partition', () => {
    const { names } = aivenSinkSettings(
      parseConfig(aivenS3SinkConfig, named('d/{{topic}}.{{partition}}-{{start_offset}}+{{timestamp:unit=HH}}')),
    )
    expect(names.prefixOf('a.b')).toBe('d/a.b.')
    expect(names.isOfPartition('d/a.b.1-22+07', 'a.b', 1)).toBe(true)
    expect(names.isOfPartition('d/a.b.11-22+07', 'a.b', 1)).toBe(false)
    expect(names.isOfPartition('d/aXb.1-22+07', 'a.b', 1)).toBe(false)
  })

  it.each(['{{key}}', '{{topic}}-{{partition}}-{{key}}-{{start_offset}}', '{{topic}}-{{partition}}{{start_offset}}'])(
    'do not tell it if it is not certain: %s',
    (template) => {
      const { names } = aivenSinkSettings(parseConfig(aivenS3SinkConfig, named(template)))
      expect(names.isOfPartition('orders-0-0-0', 'orders', 0)).toBe(false)
      expect(names.isOfPartition('orders-00', 'orders', 0)).toBe(false)
    },
  )
})

describe('the configuration of the Aiven S3 sink', () => {
  it.each<[Config, string]>([
    [{ 'aws.s3.bucket.name': '' }, 'aws.s3.bucket.name'],
    [{ 'file.name.template': 'constant' }, 'file.name.template'],
    [{ 'file.name.template': '{{start_offset}}-{{key}}' }, 'file.name.template'],
    [{ 'file.name.template': '{{key}}-{{timestamp:unit=dd}}' }, 'file.name.template'],
    [{ 'file.name.template': '{{topic}}-{{partition}}-{{start_offset}}-{{timestamp}}' }, 'file.name.template'],
    [{ 'file.name.template': '{{topic}}-{{partition}}-{{start_offset}}-{{utc_date}}' }, 'file.name.template'],
    [{ 'file.name.template': '{{what}}' }, 'file.name.template'],
    [{ 'aws.s3.prefix': '{{what}}' }, 'aws.s3.prefix'],
    [{ 'file.name.template': '{{key}}', 'file.max.records': '2' }, 'file.max.records'],
    [{ 'file.name.timestamp.timezone': 'Mars' }, 'file.name.timestamp.timezone'],
    [{ 'format.output.type': 'parquet' }, 'format.output.type'],
    [{ 'format.output.fields': 'value,partition' }, 'format.output.fields'],
    [{ 'format.output.fields': 'key,value', 'format.output.envelope': 'false' }, 'format.output.envelope'],
    [{ 'file.compression.type': 'lz4' }, 'file.compression.type'],
    [{ 'aws.access.key.id': 'key' }, 'aws.secret.access.key'],
    [{ 'aws.sts.role.arn': 'arn' }, 'aws.sts.role.session.name'],
    [{ 'aws.s3.endpoint': 'minio:9000' }, 'aws.s3.endpoint'],
    [{ 'aws.credentials.provider': 'com.example.Mine' }, 'aws.credentials.provider'],
  ])('is refused at the key that is wrong: %j', (changed, key) => {
    const parsed = aivenS3SinkConfig.safeParse({ ...BUCKET, ...changed })
    expect(parsed.error?.issues.map(({ path }) => path[0])).toContain(key)
  })
})
