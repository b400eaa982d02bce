import { defineSink } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { parseTimeZone } from '../jdbc/time-zone.ts'
import { compressionOf } from '../object-storage/compression.ts'
import { ObjectSink, type ObjectSinkSettings } from '../object-storage/object-sink.ts'
import { recordOutput } from '../object-storage/output-part.ts'
import { SchemaProjector } from '../object-storage/schema-compatibility.ts'
import { timestampExtractor } from '../object-storage/timestamp-extractor.ts'
import {
  AIVEN_WITHOUT_EFFECT,
  type AivenS3SinkConfig,
  aivenS3SinkConfig,
  currentKeys,
  fileTemplate,
} from './aiven-s3-sink-config.ts'
import { providerOfClass, type S3Credentials } from './s3-credentials.ts'
import { PART_BYTES_MIN } from './s3-sink-config.ts'
import { openS3Store, type S3Settings } from './s3-store.ts'

/** The S3 sink with the keys, names and formats of Aiven's. */
export const aivenS3Sink = defineSink({
  class: 'AivenS3Sink',
  aliases: ['io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector', 'AivenKafkaConnectS3SinkConnector'],
  version: SHIPPED_VERSION,
  summary:
    "Writes records to files in a bucket of Amazon S3 or of a server with its API, with the configuration keys of Aiven's S3 sink.",
  notes: `
**Each record is stored exactly once**, in the same way as by [S3Sink](s3-sink.md). Files are complete when offsets are committed, every
\`offset.flush.interval.ms\` of the worker (60 s by default), and before that when a file has \`file.max.records\`, when an hour in a name
changes by the clock, or when memory is too little (\`buffer.memory.bytes\`). The files of a topic partition end together.

\`file.name.template\` decides what is in a file:

| Variables | Files |
| --- | --- |
| \`{{topic}}\`, \`{{partition}}\`, \`{{start_offset}}\`, perhaps \`{{timestamp:unit=…}}\` | all records, in order |
| the same and \`{{key}}\` | all records of a key, in order |
| \`{{key}}\`, perhaps \`{{topic}}\` and \`{{partition}}\` | the last record of a key, which replaces the one before. After a crash, a file may contain an older one for a moment |

With \`csv\`, values are bytes (\`ByteArrayConverter\`), and keys are bytes or text. With \`avro\`, values and keys have schemas, and another
schema begins another file. Records without a value are stored, with nothing or \`null\` in their place. A record that cannot be named or
written is handled according to \`errors.tolerance\`. This is a complete configuration:

<!-- not run: it needs a bucket of Amazon -->
\`\`\`properties
connector.class=io.aiven.kafka.connect.s3.AivenKafkaConnectS3SinkConnector
topics=orders
aws.s3.bucket.name=lake
aws.s3.region=eu-central-1
file.name.template={{topic}}/{{timestamp:unit=yyyy}}/{{timestamp:unit=MM}}/{{partition}}-{{start_offset:padding=true}}.gz
format.output.type=jsonl
format.output.fields=key,value,timestamp
\`\`\`

Credentials come from \`aws.sts.role.arn\`, from \`aws.access.key.id\`, or else from Amazon's usual places. Incomplete uploads of tasks that
were killed are discarded when partitions are assigned, if names contain \`{{partition}}\` between other text and no \`{{key}}\`; else set a
lifecycle rule.

| Keys and values of the original | |
| --- | --- |
| \`format.output.type=parquet\` | rejected: not supported yet |
| \`format.output.envelope=false\` with maps in Avro | as \`true\`: a map has no fields with a schema |
| \`{{start_offset}}\` of a file with a timestamp or key | the offset of its first record, as documented, not that of the first record after the last flush |
| \`aws.sts.role.session.duration\`, \`aws.sts.config.endpoint\`, \`file.prefix.template\`, \`aws.s3.fetch.*\` | without effect, as in the original |
| \`aws.s3.backoff.delay.ms\`, \`aws.s3.backoff.max.delay.ms\`, \`kafka.retry.backoff.ms\` | without effect: Amazon's client and then \`errors.retry.delay.max.ms\` decide |
| \`aws_access_key_id\`, \`aws_secret_access_key\` | used, although the current original ignores them |
| \`aws.credentials.provider\` with a class of your own | rejected: it is Java code. Install the original |
`,
  config: aivenS3SinkConfig,
  otherKeys: { known: AIVEN_WITHOUT_EFFECT.map((key) => key.replaceAll('.', '\\.')), former: {} },
  start: async ({ config, raw, log, signal, network, ...context }) => {
    const ignored = AIVEN_WITHOUT_EFFECT.filter((key) => raw[key] !== undefined)
    if (ignored.length > 0) log.info({ keys: ignored }, 'these keys have no effect')
    const store = await openS3Store(storeSettings(config), { network, signal, log })
    return new ObjectSink(aivenSinkSettings(config), store, {
      log,
      reject: context.reject,
      committedOffsets: context.committedOffsets,
      commitOffsets: context.commitOffsets,
      requestCommit: context.requestCommit,
      nowMs: () => Date.now(),
    })
  },
})

export function aivenSinkSettings(config: AivenS3SinkConfig): ObjectSinkSettings {
  const { compression, fields, timeZone, timestampSource } = currentKeys(config)
  const template = fileTemplate(config)
  const keepsLatest = !template.has('start_offset')
  const recordsMax = config['file.max.records']
  const { part, schemaOf } = recordOutput({
    type: config['format.output.type'],
    fields,
    encodesValue: config['format.output.fields.value.encoding'] === 'base64',
    hasEnvelope: config['format.output.envelope'],
    avro: {
      codec: config['avro.codec'],
      options: { metadata: config['connect.meta.data'], enums: config['enhanced.avro.schema.support'] },
    },
  })
  const isByClock = timestampSource === 'wallclock'
  return {
    parts: [part],
    names: template.names(),
    schemaOf,
    projector: new SchemaProjector('NONE'),
    compression: compressionOf(compression),
    keepsLatest,
    rotation: {
      recordsMax: Number.POSITIVE_INFINITY,
      fileRecordsMax: recordsMax === 0 || keepsLatest ? Number.POSITIVE_INFINITY : recordsMax,
      intervalMs: undefined,
      onOtherPath: false,
      filesMax: undefined,
      schedule: undefined,
    },
    usesClock: (isByClock && template.has('timestamp')) || template.has('utc_date', 'local_date'),
    place: template.partitioner(timestampExtractor({ from: isByClock ? 'clock' : 'record' }), {
      timestamp: parseTimeZone(timeZone),
      local: parseTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone),
    }),
    bytesMax: config['buffer.memory.bytes'],
    onNull: 'store',
    tombstoneFolder: '',
    reportsNull: false,
    endsAtCommit: true,
  }
}

function storeSettings(config: AivenS3SinkConfig): S3Settings {
  const { bucket, region, endpoint } = currentKeys(config)
  return {
    bucket,
    region,
    endpoint: endpoint === '' ? undefined : endpoint,
    isPathStyle: endpoint !== '',
    isAccelerated: false,
    credentials: credentialsOf(config),
    partBytes: Math.max(PART_BYTES_MIN, config['aws.s3.part.size.bytes']),
    retriesMax: config['aws.s3.backoff.max.retries'],
    sendsDigest: false,
    encryption: { algorithm: config['aws.s3.sse.algorithm'] || undefined, kmsKeyId: undefined, customerKey: undefined },
    acl: undefined,
    proxyUrl: undefined,
    ignoresTagErrors: true,
  }
}

function credentialsOf(config: AivenS3SinkConfig): S3Credentials {
  const { accessKey, secretKey } = currentKeys(config)
  const keys = accessKey === '' ? undefined : { id: accessKey, secret: secretKey }
  const arn = config['aws.sts.role.arn']
  if (arn !== '')
    return {
      from: 'role',
      arn,
      session: config['aws.sts.role.session.name'],
      externalId: config['aws.sts.role.external.id'] || undefined,
      region: undefined,
      keys,
    }
  if (keys !== undefined) return { from: 'keys', ...keys }
  return providerOfClass(config['aws.credentials.provider'] ?? '') ?? { from: 'default' }
}
