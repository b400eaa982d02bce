import { AVRO_CODECS } from '../../../java-compat/avro/avro-file.ts'
import { field, z } from '../../../sdk/index.ts'
import { parseTimeZone } from '../jdbc/time-zone.ts'
import { PARQUET_CODECS } from '../object-storage/parquet-codec.ts'
import { parsePathFormat } from '../object-storage/path-format.ts'
import { SCHEMA_COMPATIBILITIES } from '../object-storage/schema-compatibility.ts'
import { ASSUME_ROLE, providerOfClass } from './s3-credentials.ts'

export const PART_BYTES_MIN = 5 * 1024 * 1024
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** Class names of the original, and short names. */
const FORMATS = {
  'io.confluent.connect.s3.format.json.JsonFormat': 'json',
  'io.confluent.connect.s3.format.avro.AvroFormat': 'avro',
  'io.confluent.connect.s3.format.bytearray.ByteArrayFormat': 'bytes',
  'io.confluent.connect.s3.format.parquet.ParquetFormat': 'parquet',
} as const
const PARTITIONERS = {
  'io.confluent.connect.storage.partitioner.DefaultPartitioner': 'partition',
  'io.confluent.connect.storage.partitioner.FieldPartitioner': 'field',
  'io.confluent.connect.storage.partitioner.TimeBasedPartitioner': 'time',
  'io.confluent.connect.storage.partitioner.DailyPartitioner': 'daily',
  'io.confluent.connect.storage.partitioner.HourlyPartitioner': 'hourly',
} as const
const EXTRACTORS = {
  Wallclock: 'clock',
  Record: 'record',
  RecordField: 'field',
  ...Object.fromEntries(
    (['Wallclock', 'Record', 'RecordField'] as const).map((name, at) => [
      `io.confluent.connect.storage.partitioner.TimeBasedPartitioner$${name}TimestampExtractor`,
      (['clock', 'record', 'field'] as const)[at]!,
    ]),
  ),
} as Readonly<Record<string, 'clock' | 'record' | 'field'>>

/** A key whose value is a class of the original or its short name. */
function choice<Name extends string>(choices: Readonly<Record<string, Name>>, info: field.FieldInfo) {
  const known = new Map(
    Object.entries(choices).flatMap(([name, short]) => [[name, short] as const, [short, short] as const]),
  )
  return field
    .className({ recommended: Object.keys(choices), ...info })
    .refine((name) => known.has(name), { error: `expected one of ${[...known.keys()].join(', ')}`, abort: true })
    .transform((name) => known.get(name)!)
}

const ms = (doc: string, info: Partial<field.FieldInfo> = {}) => field.long({ doc, min: -1, ...info })

export const bufferMemoryBytes = field
  .long({
    doc: 'Bytes of open files that a task holds in memory. Above that, parts are uploaded, and then files end early.',
    min: 1_048_576,
  })
  .default(67_108_864)

/** Whether a text is empty or the URL of a server. */
export function isServerUrl(url: string): boolean {
  return url === '' || (/^https?:\/\/[^/\s]/.test(url) && URL.canParse(url))
}

/** Keys that name, partition and delimit files. */
const fileFields = {
  'format.class': choice(FORMATS, { doc: 'Format of the files.', importance: 'HIGH' }).default('json'),
  'flush.size': field
    .int({
      doc: 'Number of records of a topic partition after which its files are complete.',
      importance: 'HIGH',
      min: 1,
    })
    .default(10_000),
  'rotate.interval.ms': ms(
    'With a time-based partitioner: files are complete when the timestamp of a record is so many ms after that of the first one. -1: never.',
    { importance: 'HIGH' },
  ).default(-1),
  'rotate.schedule.interval.ms': ms(
    'Interval after which files are complete, in ms of the clock since midnight in timezone, also if no record follows. -1: never.',
  ).default(-1),
  'rotate.file.on.partition.change': field
    .boolean({
      doc: 'With rotate.interval.ms: whether files are complete when a record has another path than the one before.',
    })
    .default(true),
  'partitioner.max.open.files': field
    .int({
      doc: 'Number of files of a topic partition at which they are complete. -1: without limit.',
      importance: 'LOW',
      min: -1,
    })
    .default(-1),
  'partitioner.class': choice(PARTITIONERS, {
    doc: 'Folder of a record: of its partition, of the values of its fields, or of its time.',
    importance: 'HIGH',
  }).default('partition'),
  'partition.field.name': field
    .list({ doc: 'With FieldPartitioner: the fields, such as a or a.b, separated by commas.' })
    .default([]),
  'partition.duration.ms': ms('With TimeBasedPartitioner: length of the periods that have a folder, in ms.').default(
    -1,
  ),
  'path.format': field
    .text({
      doc: "With TimeBasedPartitioner: format of the folder as of Joda-Time, such as 'year'=YYYY/'month'=MM/'day'=dd.",
    })
    .default(''),
  locale: field.text({ doc: 'With a time-based partitioner: the language of names of months and days.' }).default(''),
  timezone: field
    .text({ doc: 'With a time-based partitioner or rotate.schedule.interval.ms: the time zone, such as UTC.' })
    .default(''),
  'timestamp.extractor': choice(EXTRACTORS, {
    doc: 'Timestamp for a time-based partitioner: the clock, that of the record, or a field of its value.',
    recommended: ['Wallclock', 'Record', 'RecordField'],
  }).default('clock'),
  'timestamp.field': field
    .text({ doc: 'With timestamp.extractor=RecordField: the field, in ms since 1970 or as ISO 8601 text.' })
    .default('timestamp'),
  'topics.dir': field
    .text({ doc: 'Folder of all topics in the bucket. Empty: none.', importance: 'HIGH' })
    .default('topics'),
  'directory.delim': field.text({ doc: 'Delimiter of folders.', nonEmpty: true }).default('/'),
  'file.delim': field.text({ doc: 'Delimiter of topic, partition and offset in the name of a file.' }).default('+'),
  'filename.offset.zero.pad.width': field
    .int({ doc: 'Number of digits of the offset in the name of a file.', importance: 'LOW', min: 0, max: 100 })
    .default(10),
  's3.schema.partition.affix.type': field
    .oneOf(['NONE', 'PREFIX', 'SUFFIX'], {
      doc: 'Whether the folder also names the schema of the value, before or after its path.',
      importance: 'LOW',
    })
    .default('NONE'),
  'schema.compatibility': field
    .oneOf(SCHEMA_COMPATIBILITIES, {
      doc: 'Whether a value of an older schema (BACKWARD, FULL) or of a newer one (FORWARD) is converted to that of its file. Each other schema begins another file.',
    })
    .default('NONE'),
} as const

/** Keys of what is written in the files. */
const contentFields = {
  's3.compression.type': field
    .oneOf(['none', 'gzip'], { doc: 'Compression of files with JsonFormat and ByteArrayFormat.', importance: 'LOW' })
    .default('none'),
  's3.compression.level': field
    .int({ doc: 'Level of gzip, from 0 to 9. -1: its default.', importance: 'LOW', min: -1, max: 9 })
    .default(-1),
  'json.decimal.format': field
    .oneOf(['BASE64', 'NUMERIC'], { doc: 'With JsonFormat: whether decimals are base64 of their bytes, or numbers.' })
    .default('BASE64'),
  'format.bytearray.extension': field
    .text({ doc: 'With ByteArrayFormat: extension of files.', importance: 'LOW' })
    .default('.bin'),
  'format.bytearray.separator': field
    .text({
      doc: 'With ByteArrayFormat: text after each record. May contain \\n, \\r and \\t. Default: a newline.',
      importance: 'LOW',
      isVerbatim: true,
    })
    .optional(),
  'avro.codec': field
    .oneOf(AVRO_CODECS, { doc: 'With AvroFormat: compression of blocks.', importance: 'LOW' })
    .default('null'),
  'parquet.codec': field
    .oneOf(PARQUET_CODECS, { doc: 'With ParquetFormat: compression of pages.', importance: 'LOW' })
    .default('snappy'),
  'connect.meta.data': field
    .boolean({ doc: 'With AvroFormat: whether schemas have the metadata of Kafka Connect.', importance: 'LOW' })
    .default(true),
  'enhanced.avro.schema.support': field
    .boolean({ doc: 'With AvroFormat: whether enums and namespaces are kept.', importance: 'LOW' })
    .default(true),
  'allow.optional.map.keys': field
    .boolean({ doc: 'With AvroFormat: whether maps with optional text keys become maps of Avro.', importance: 'LOW' })
    .default(false),
  'behavior.on.null.values': field
    .oneOf(['fail', 'ignore', 'write'], {
      doc: 'Handling of records without a value: by errors.tolerance, ignored, or their keys written to tombstone.encoded.partition.',
      importance: 'LOW',
    })
    .default('fail'),
  'report.null.values.to.dlq': field
    .boolean({
      doc: 'Whether ignored records without a value are sent to the dead-letter queue, if there is one.',
      importance: 'LOW',
    })
    .default(true),
  'tombstone.encoded.partition': field
    .text({
      doc: 'With behavior.on.null.values=write: the folder of records without a value.',
      importance: 'LOW',
      nonEmpty: true,
    })
    .default('tombstone'),
  'store.kafka.keys': field
    .boolean({ doc: 'Whether keys are stored in files beside the values.', importance: 'LOW' })
    .default(false),
  'store.kafka.headers': field
    .boolean({ doc: 'Whether headers are stored in files beside the values.', importance: 'LOW' })
    .default(false),
  'keys.format.class': choice(FORMATS, { doc: 'Format of the files of keys.', importance: 'LOW' }).default('avro'),
  'headers.format.class': choice(FORMATS, { doc: 'Format of the files of headers.', importance: 'LOW' }).default(
    'avro',
  ),
} as const

/** Keys of the bucket and of requests. */
const storeFields = {
  's3.bucket.name': field.text({ doc: 'The bucket.', importance: 'HIGH', nonEmpty: true }),
  's3.region': field.text({ doc: 'Region of the bucket.', nonEmpty: true }).default('us-west-2'),
  'store.url': field
    .text({
      doc: 'URL of a server with the API of Amazon S3. Default: that of the region.',
      importance: 'HIGH',
      reaches: 'url',
    })
    .refine(isServerUrl, 'expected http://HOST or https://HOST')
    .optional(),
  's3.path.style.access.enabled': field
    .boolean({ doc: 'Whether the bucket is in the path of URLs, not in the host.', importance: 'LOW' })
    .default(true),
  's3.wan.mode': field.boolean({ doc: 'Whether to use the accelerated endpoint of Amazon.' }).default(false),
  's3.part.size': field
    .int({
      doc: 'Bytes of a part of an upload. A smaller file is uploaded at once.',
      importance: 'HIGH',
      min: PART_BYTES_MIN,
    })
    .default(25 * 1024 * 1024),
  's3.part.retries': field.int({ doc: 'Number of retries of a request, before the task retries.', min: 0 }).default(3),
  's3.send.digest': field
    .boolean({ doc: 'Whether requests contain the MD5 of their content.', importance: 'LOW' })
    .default(false),
  'aws.access.key.id': field
    .text({ doc: "Access key. Default: Amazon's usual places.", importance: 'HIGH' })
    .default(''),
  'aws.secret.access.key': field.password({ doc: 'Secret of the access key.', importance: 'HIGH' }).default(''),
  's3.credentials.provider.class': field
    .className({
      doc: 'Where credentials come from: a provider of Amazon by its Java class, or AwsAssumeRoleCredentialsProvider.',
      importance: 'LOW',
    })
    .refine(
      (name) => name === ASSUME_ROLE || providerOfClass(name) !== undefined,
      `expected a provider of Amazon such as software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider, or ${ASSUME_ROLE}`,
    )
    .default('software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider'),
  's3.credentials.provider.sts.role.arn': field
    .text({ doc: 'With AwsAssumeRoleCredentialsProvider: the role.', importance: 'LOW' })
    .default(''),
  's3.credentials.provider.sts.role.session.name': field
    .text({ doc: 'With AwsAssumeRoleCredentialsProvider: the name of the session.', importance: 'LOW' })
    .default(''),
  's3.credentials.provider.sts.role.external.id': field
    .text({ doc: 'With AwsAssumeRoleCredentialsProvider: the external id.', importance: 'LOW' })
    .default(''),
  's3.credentials.provider.sts.region': field
    .text({ doc: 'With AwsAssumeRoleCredentialsProvider: the region of the token service.', importance: 'LOW' })
    .default(''),
  's3.ssea.name': field
    .oneOf(['', 'AES256', 'aws:kms', 'aws:kms:dsse'], { doc: 'Encryption by the server.', importance: 'LOW' })
    .default(''),
  's3.sse.kms.key.id': field.text({ doc: 'With s3.ssea.name=aws:kms: the key.', importance: 'LOW' }).default(''),
  's3.sse.customer.key': field
    .password({ doc: 'Key of the customer for the encryption, in base64.', importance: 'LOW' })
    .default(''),
  's3.acl.canned': field.text({ doc: 'Canned ACL of objects.', importance: 'LOW' }).optional(),
  's3.object.tagging': field
    .boolean({ doc: 'Whether objects are tagged with startOffset, endOffset and recordCount.', importance: 'LOW' })
    .default(false),
  's3.object.tagging.key.value.pairs': field
    .list({ doc: 'With s3.object.tagging: further tags as KEY:VALUE, separated by commas.', importance: 'LOW' })
    .default([]),
  's3.object.behavior.on.tagging.error': field
    .oneOf(['ignore', 'fail'], { doc: 'Whether an object that cannot be tagged fails the task.', importance: 'LOW' })
    .default('ignore'),
  's3.proxy.url': field.text({ doc: 'URL of an HTTP proxy.', importance: 'LOW', reaches: 'url' }).default(''),
  's3.proxy.user': field.text({ doc: 'User name for the proxy.', importance: 'LOW' }).optional(),
  's3.proxy.password': field.password({ doc: 'Password for the proxy.', importance: 'LOW' }).default(''),
  'buffer.memory.bytes': bufferMemoryBytes,
} as const

/** Keys of the original without effect, so that they are not reported as unknown. */
export const WITHOUT_EFFECT = [
  'storage.class',
  'schema.cache.size',
  'retry.backoff.ms',
  's3.retry.backoff.ms',
  'shutdown.timeout.ms',
  's3.http.send.expect.continue',
  's3.elastic.buffer.enable',
  's3.elastic.buffer.init.capacity',
  'max.write.duration.ms',
  'enable.conditional.writes',
  'max.files.scan.limit',
] as const

export const s3SinkConfig = z
  .object({ ...storeFields, ...fileFields, ...contentFields })
  .catchall(z.string())
  .superRefine((config, context) => {
    for (const [key, message] of problemsOf(config)) field.addProblem(context, key, message)
  })

export type S3SinkConfig = z.infer<z.ZodObject<typeof storeFields & typeof fileFields & typeof contentFields>>

/** The period and the format of the folders of a time-based partitioner. */
export function timePartitions(
  config: S3SinkConfig,
): { readonly periodMs: number; readonly format: string } | undefined {
  const slash = config['directory.delim']
  const day = `'year'=YYYY${slash}'month'=MM${slash}'day'=dd`
  switch (config['partitioner.class']) {
    case 'daily':
      return { periodMs: DAY_MS, format: day }
    case 'hourly':
      return { periodMs: HOUR_MS, format: `${day}${slash}'hour'=HH` }
    case 'time': {
      const format = config['path.format']
      return {
        periodMs: config['partition.duration.ms'],
        format: format.endsWith(slash) ? format.slice(0, -slash.length) : format,
      }
    }
    default:
      return undefined
  }
}

function* problemsOf(config: S3SinkConfig): Generator<readonly [key: string, message: string]> {
  yield* timeProblems(config)
  yield* credentialProblems(config)
  if (config['partitioner.class'] === 'field' && config['partition.field.name'].length === 0)
    yield ['partition.field.name', 'partitioner.class=FieldPartitioner requires partition.field.name']
  if (config['behavior.on.null.values'] === 'write' && !config['store.kafka.keys'])
    yield ['store.kafka.keys', 'behavior.on.null.values=write requires store.kafka.keys=true']
  if (config['headers.format.class'] === 'bytes')
    yield [
      'headers.format.class',
      'headers.format.class=ByteArrayFormat is not possible: expected AvroFormat or JsonFormat',
    ]
  if (config['s3.wan.mode'] && config['s3.path.style.access.enabled'])
    yield ['s3.path.style.access.enabled', 's3.wan.mode=true requires s3.path.style.access.enabled=false']
  const pair = config['s3.object.tagging.key.value.pairs'].find((text) => !/^[^:]+:[^:]*$/.test(text))
  if (pair !== undefined) yield ['s3.object.tagging.key.value.pairs', `the tag '${pair}' is not KEY:VALUE`]
}

function* credentialProblems(config: S3SinkConfig): Generator<readonly [key: string, message: string]> {
  if ((config['aws.access.key.id'] === '') !== (config['aws.secret.access.key'] === ''))
    yield ['aws.secret.access.key', 'aws.access.key.id and aws.secret.access.key are set together or not at all']
  if (config['s3.credentials.provider.class'] !== ASSUME_ROLE) return
  for (const key of ['s3.credentials.provider.sts.role.arn', 's3.credentials.provider.sts.role.session.name'] as const)
    if (config[key] === '') yield [key, `s3.credentials.provider.class=${ASSUME_ROLE} requires ${key}`]
}

function* timeProblems(config: S3SinkConfig): Generator<readonly [key: string, message: string]> {
  const time = timePartitions(config)
  if (time === undefined && config['rotate.schedule.interval.ms'] <= 0) return
  const { timezone, locale } = config
  if (timezone === '')
    yield ['timezone', 'timezone is required by a time-based partitioner and by rotate.schedule.interval.ms']
  else if (attempt(() => parseTimeZone(timezone)) !== undefined)
    yield [
      'timezone',
      `Invalid value ${timezone} for configuration timezone: ${attempt(() => parseTimeZone(timezone))}`,
    ]
  if (time === undefined) return
  if (locale === '') yield ['locale', 'locale is required by a time-based partitioner, such as en-US']
  if (time.periodMs < 1) yield ['partition.duration.ms', 'TimeBasedPartitioner requires partition.duration.ms, in ms']
  if (time.format === '') yield ['path.format', 'TimeBasedPartitioner requires path.format']
  const problem = locale === '' ? undefined : attempt(() => parsePathFormat(time.format, locale))
  if (problem !== undefined)
    yield ['path.format', `Invalid value ${time.format} for configuration path.format: ${problem}`]
}

function attempt(parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
