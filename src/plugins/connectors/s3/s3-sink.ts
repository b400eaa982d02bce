import { defineSink } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { parseTimeZone } from '../jdbc/time-zone.ts'
import { compressionOf } from '../object-storage/compression.ts'
import { type FileFormat, fileFormat } from '../object-storage/file-format.ts'
import { FileNames } from '../object-storage/file-names.ts'
import { ObjectSink, type ObjectSinkSettings } from '../object-storage/object-sink.ts'
import { createPartitioner, type PartitionerSettings } from '../object-storage/partitioner.ts'
import { parsePathFormat } from '../object-storage/path-format.ts'
import { headerPart, keyPart, valuePart } from '../object-storage/record-part.ts'
import { SchemaProjector } from '../object-storage/schema-compatibility.ts'
import { ASSUME_ROLE, providerOfClass, type S3Credentials } from './s3-credentials.ts'
import { type S3SinkConfig, s3SinkConfig, timePartitions, WITHOUT_EFFECT } from './s3-sink-config.ts'
import { openS3Store, type S3Settings } from './s3-store.ts'

/** Writes records to objects of Amazon S3, and of servers with its API. */
export const s3Sink = defineSink({
  class: 'S3Sink',
  aliases: ['io.confluent.connect.s3.S3SinkConnector', 'S3SinkConnector'],
  version: SHIPPED_VERSION,
  summary:
    "Writes records to files in a bucket of Amazon S3 or of a server with its API, as Confluent's connector does.",
  notes: `
**Each record is stored exactly once, with every way of completing files, also by the clock.** The files of a topic partition end together.
Before any of them is visible, the task commits their end as metadata of the offset before them; after a crash, the next task writes the same
files again, with the same names and bytes, and then commits the offset after them. A reader may see a file again, but with equal content.

Files are named as by the original: \`TOPICS.DIR/TOPIC/FOLDER/TOPIC+PARTITION+FIRST_OFFSET.EXTENSION\`. They are complete when one of these
applies to the records of the topic partition: \`flush.size\`, \`rotate.interval.ms\`, \`rotate.schedule.interval.ms\`, another schema,
\`partitioner.max.open.files\`, or too little memory (\`buffer.memory.bytes\`). With \`timestamp.extractor=Wallclock\`, they also end when
the folder changes. With \`schema.compatibility\`, a value of an older schema (\`BACKWARD\`, \`FULL\`) or of a newer one (\`FORWARD\`) is
converted to that of its file instead of beginning another one: fields that it lacks get their default, and those that the file lacks are
dropped. It needs schemas with versions, as converters with a registry create. Records that are not in a complete file are read again
after a restart.

Format, partitioner and timestamp extractor are named by the class of the original or shortly: \`json\`, \`avro\`, \`parquet\`, \`bytes\`;
\`partition\`, \`field\`, \`time\`, \`daily\`, \`hourly\`; \`clock\`, \`record\`, \`field\`. This is a complete configuration:

<!-- not run: it needs a bucket of Amazon -->
\`\`\`properties
connector.class=S3Sink
topics=orders
s3.bucket.name=lake
s3.region=eu-central-1
partitioner.class=daily
locale=en-US
timezone=UTC
rotate.schedule.interval.ms=600000
\`\`\`

Credentials come from \`aws.access.key.id\` and \`aws.secret.access.key\`, else from Amazon's usual places: environment, profiles, web
identity (IRSA), container, instance. A rejected request (a missing right, another region, no such bucket) fails the task with the reason and
the remedy; all others are retried, and no record is lost. Do not write a topic to the same \`topics.dir\` with two connectors: when
partitions are assigned, incomplete uploads of their files are discarded (\`s3:ListBucketMultipartUploads\`; without it, set a lifecycle
rule). A record whose object cannot be named or written is handled according to \`errors.tolerance\`.

| Keys and values of the original | |
| --- | --- |
| \`storage.class\`, \`schema.cache.size\`, \`shutdown.timeout.ms\`, \`s3.elastic.buffer.*\`, \`s3.http.send.expect.continue\` | without effect: there is nothing to set |
| \`retry.backoff.ms\`, \`s3.retry.backoff.ms\` | without effect: Amazon's client and then \`errors.retry.delay.max.ms\` decide |
| \`enable.conditional.writes\`, \`max.files.scan.limit\`, \`max.write.duration.ms\` | without effect: a file that is written again is the same |
| \`parquet.codec\`: \`brotli\`, \`lz4\`, \`lz4raw\`, \`lzo\` | rejected: there is no maintained library for them |
| lists in Parquet | have the structure of its specification, as in the original if items are optional |
| \`avro.codec=bzip2\` | rejected: there is no maintained library for it |
| classes of your own for format, partitioner, extractor or credentials | rejected: they are Java code. Install the original |
`,
  config: s3SinkConfig,
  otherKeys: { known: WITHOUT_EFFECT.map((key) => key.replaceAll('.', '\\.')), former: {} },
  start: async ({ config, raw, log, signal, network, ...context }) => {
    const ignored = WITHOUT_EFFECT.filter((key) => raw[key] !== undefined && key !== 'storage.class')
    if (ignored.length > 0) log.info({ keys: ignored }, 'these keys have no effect')
    const store = await openS3Store(storeSettings(config), { network, signal, log })
    const hasDeadLetters = raw['errors.tolerance'] === 'all' && Boolean(raw['errors.deadletterqueue.topic.name'])
    return new ObjectSink(await sinkSettings(config, hasDeadLetters), store, {
      log,
      reject: context.reject,
      committedOffsets: context.committedOffsets,
      commitOffsets: context.commitOffsets,
      requestCommit: context.requestCommit,
      nowMs: () => Date.now(),
    })
  },
})

async function sinkSettings(config: S3SinkConfig, hasDeadLetters: boolean): Promise<ObjectSinkSettings> {
  const intervalMs = config['rotate.interval.ms']
  const scheduleMs = config['rotate.schedule.interval.ms']
  const filesMax = config['partitioner.max.open.files']
  const partitioner = partitionerSettings(config)
  return {
    parts: [
      valuePart(await formatOf(config, config['format.class'])),
      ...(config['store.kafka.keys'] ? [keyPart(await formatOf(config, config['keys.format.class']))] : []),
      ...(config['store.kafka.headers'] ? [headerPart(await formatOf(config, config['headers.format.class']))] : []),
    ],
    names: new FileNames({
      folder: config['topics.dir'],
      folderDelimiter: config['directory.delim'],
      fileDelimiter: config['file.delim'],
      offsetDigits: config['filename.offset.zero.pad.width'],
      schemaFolder: SCHEMA_FOLDERS[config['s3.schema.partition.affix.type']],
      tags: config['s3.object.tagging'] ? tagsOf(config['s3.object.tagging.key.value.pairs']) : undefined,
    }),
    projector: new SchemaProjector(config['schema.compatibility']),
    schemaOf: ({ valueSchema }) => valueSchema,
    compression: compressionOf(config['s3.compression.type'], config['s3.compression.level']),
    keepsLatest: false,
    rotation: {
      recordsMax: config['flush.size'],
      fileRecordsMax: Number.POSITIVE_INFINITY,
      intervalMs: intervalMs > 0 && partitioner.by === 'time' ? intervalMs : undefined,
      onOtherPath: config['rotate.file.on.partition.change'],
      filesMax: filesMax > 0 ? filesMax : undefined,
      schedule: scheduleMs > 0 ? { intervalMs: scheduleMs, zone: parseTimeZone(config.timezone) } : undefined,
    },
    usesClock: partitioner.by === 'time' && partitioner.timestamp.from === 'clock',
    place: createPartitioner(partitioner, config['directory.delim']),
    bytesMax: config['buffer.memory.bytes'],
    onNull: config['behavior.on.null.values'],
    tombstoneFolder: config['tombstone.encoded.partition'],
    reportsNull: config['report.null.values.to.dlq'] && hasDeadLetters,
    endsAtCommit: false,
  }
}

const SCHEMA_FOLDERS = { NONE: 'none', PREFIX: 'prefix', SUFFIX: 'suffix' } as const

function partitionerSettings(config: S3SinkConfig): PartitionerSettings {
  const time = timePartitions(config)
  if (time !== undefined) {
    const from = config['timestamp.extractor']
    return {
      by: 'time',
      periodMs: time.periodMs,
      path: parsePathFormat(time.format, config.locale),
      zone: parseTimeZone(config.timezone),
      timestamp: from === 'field' ? { from, field: config['timestamp.field'] } : { from },
    }
  }
  if (config['partitioner.class'] === 'field') return { by: 'fields', fields: config['partition.field.name'] }
  return { by: 'partition' }
}

async function formatOf(config: S3SinkConfig, format: S3SinkConfig['format.class']): Promise<FileFormat> {
  switch (format) {
    case 'json':
      return fileFormat({ format, decimals: config['json.decimal.format'] })
    case 'bytes':
      return fileFormat({
        format,
        extension: config['format.bytearray.extension'],
        separator: unescaped(config['format.bytearray.separator'] ?? '\n'),
      })
    case 'parquet': {
      // Its library is loaded only if it is used.
      const { parquetFormat } = await import('../object-storage/parquet-file.ts')
      return parquetFormat(config['parquet.codec'])
    }
    case 'avro':
      return fileFormat({
        format,
        codec: config['avro.codec'],
        options: {
          metadata: config['connect.meta.data'],
          enums: config['enhanced.avro.schema.support'],
          optionalKeys: config['allow.optional.map.keys'],
        },
      })
  }
}

const ESCAPES: Readonly<Record<string, string>> = { '\\n': '\n', '\\r': '\r', '\\t': '\t', '\\\\': '\\' }

function unescaped(text: string): string {
  return text.replace(/\\[nrt\\]/g, (found) => ESCAPES[found]!)
}

function tagsOf(pairs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf(':')), pair.slice(pair.indexOf(':') + 1)]))
}

function storeSettings(config: S3SinkConfig): S3Settings {
  const url = config['store.url']
  return {
    bucket: config['s3.bucket.name'],
    region: config['s3.region'],
    endpoint: url === '' ? undefined : url,
    isPathStyle: config['s3.path.style.access.enabled'],
    isAccelerated: config['s3.wan.mode'],
    credentials: credentialsOf(config),
    partBytes: config['s3.part.size'],
    retriesMax: config['s3.part.retries'],
    sendsDigest: config['s3.send.digest'],
    encryption: {
      algorithm: config['s3.ssea.name'] || undefined,
      kmsKeyId: config['s3.sse.kms.key.id'] || undefined,
      customerKey: config['s3.sse.customer.key'] || undefined,
    },
    acl: config['s3.acl.canned'],
    proxyUrl: proxyUrlOf(config),
    ignoresTagErrors: config['s3.object.behavior.on.tagging.error'] === 'ignore',
  }
}

function credentialsOf(config: S3SinkConfig): S3Credentials {
  const id = config['aws.access.key.id']
  const keys = id === '' ? undefined : { id, secret: config['aws.secret.access.key'] }
  const provider = config['s3.credentials.provider.class']
  if (provider === ASSUME_ROLE) {
    return {
      from: 'role',
      arn: config['s3.credentials.provider.sts.role.arn'],
      session: config['s3.credentials.provider.sts.role.session.name'],
      externalId: config['s3.credentials.provider.sts.role.external.id'] || undefined,
      region: config['s3.credentials.provider.sts.region'] || undefined,
      keys,
    }
  }
  return keys === undefined ? (providerOfClass(provider) ?? { from: 'default' }) : { from: 'keys', ...keys }
}

function proxyUrlOf(config: S3SinkConfig): string | undefined {
  if (config['s3.proxy.url'] === '') return undefined
  const url = new URL(config['s3.proxy.url'])
  const user = config['s3.proxy.user']
  if (user !== undefined) url.username = encodeURIComponent(user)
  if (config['s3.proxy.password'] !== '') url.password = encodeURIComponent(config['s3.proxy.password'])
  return url.href
}
