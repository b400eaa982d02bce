import { AVRO_CODECS } from '../../../java-compat/avro/avro-file.ts'
import { field, z } from '../../../sdk/index.ts'
import { parseTimeZone } from '../jdbc/time-zone.ts'
import { COMPRESSION_TYPES, compressionOf } from '../object-storage/compression.ts'
import { FileTemplate } from '../object-storage/file-template.ts'
import { OUTPUT_FIELDS, OUTPUT_TYPES, type OutputField } from '../object-storage/output-part.ts'
import { providerOfClass } from './s3-credentials.ts'
import { bufferMemoryBytes, isServerUrl, PART_BYTES_MIN } from './s3-sink-config.ts'

const low = { importance: 'LOW' } as const
const former = (key: string) => field.text({ doc: `Former name of ${key}.`, ...low }).default('')
const outputFields = (info: field.FieldInfo) =>
  field
    .list({ recommended: OUTPUT_FIELDS, ...info })
    .refine(
      (names) => names.every((name) => OUTPUT_FIELDS.some((known) => known === name.toLowerCase())),
      `expected some of ${OUTPUT_FIELDS.join(', ')}`,
    )
    .transform((names) => names.map((name) => name.toLowerCase() as OutputField))
const timeZone = (doc: string) =>
  field.parsed(field.text({ doc, ...low }), (name) => {
    if (name !== '') parseTimeZone(name)
    return name
  })

const fields = {
  'aws.s3.bucket.name': field.text({ doc: 'The bucket.', importance: 'HIGH' }).default(''),
  'aws.s3.region': field.text({ doc: 'Region of the bucket. Default: us-east-1.' }).default(''),
  'aws.s3.endpoint': field
    .text({ doc: 'URL of a server with the API of Amazon S3. Default: that of the region.', reaches: 'url' })
    .refine(isServerUrl, 'expected http://HOST or https://HOST')
    .default(''),
  'aws.access.key.id': field.password({ doc: "Access key. Default: Amazon's usual places." }).default(''),
  'aws.secret.access.key': field.password({ doc: 'Secret of the access key.' }).default(''),
  'aws.credentials.provider': field
    .className({ doc: 'Where credentials come from: a provider of Amazon by its Java class.', ...low })
    .refine(
      (name) => providerOfClass(name) !== undefined,
      'expected a provider of Amazon such as software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider',
    )
    .optional(),
  'aws.sts.role.arn': field.text({ doc: 'Role that is assumed for requests.' }).default(''),
  'aws.sts.role.session.name': field.text({ doc: 'With aws.sts.role.arn: the name of the session.' }).default(''),
  'aws.sts.role.external.id': field.text({ doc: 'With aws.sts.role.arn: the external id.', ...low }).default(''),
  'aws.s3.sse.algorithm': field
    .oneOf(['', 'AES256', 'aws:kms', 'aws:kms:dsse'], { doc: 'Encryption by the server.', ...low })
    .default(''),
  'aws.s3.part.size.bytes': field
    .int({
      doc: 'Bytes of a part of an upload, at least 5 MB. A smaller file is uploaded at once.',
      min: 1,
      max: 2_000_000_000,
    })
    .default(PART_BYTES_MIN),
  'aws.s3.backoff.max.retries': field
    .int({ doc: 'Number of retries of a request, before the task retries.', min: 1, max: 30 })
    .default(3),
  'file.name.template': field
    .text({
      doc: 'Keys of the objects. Default: {{topic}}-{{partition}}-{{start_offset}}, followed by the extension of the compression.',
      importance: 'HIGH',
    })
    .default(''),
  'aws.s3.prefix': field
    .text({
      doc: 'Precedes TOPIC-PARTITION-OFFSET, which then name objects instead of file.name.template. May contain its variables, {{utc_date}} and {{local_date}}.',
      ...low,
    })
    .default(''),
  'file.name.timestamp.timezone': timeZone('Time zone of {{timestamp}}. Default: UTC.').default(''),
  'file.name.timestamp.source': field
    .oneOf(['wallclock', 'event'], {
      doc: 'Whether {{timestamp}} is the time of the clock or that of the record.',
      ...low,
    })
    .optional(),
  'file.compression.type': field.oneOf(COMPRESSION_TYPES, { doc: 'Compression of files. Default: gzip.' }).optional(),
  'file.max.records': field
    .int({
      doc: 'Number of records of a file after which the files of its topic partition are complete. 0: unlimited.',
      min: 0,
    })
    .default(0),
  'format.output.type': field.oneOf(OUTPUT_TYPES, { doc: 'Format of the files.', importance: 'HIGH' }).default('csv'),
  'format.output.fields': outputFields({ doc: 'Fields of a record that are stored. Default: value.' }).optional(),
  'format.output.fields.value.encoding': field
    .oneOf(['base64', 'none'], { doc: 'With csv: encoding of values.' })
    .default('base64'),
  'format.output.envelope': field.boolean({ doc: 'Whether a single field is wrapped in an object.' }).default(true),
  'avro.codec': field.oneOf(AVRO_CODECS, { doc: 'With avro: compression of blocks.', ...low }).default('null'),
  'connect.meta.data': field
    .boolean({ doc: 'With avro: whether schemas have the metadata of Kafka Connect.', ...low })
    .default(true),
  'enhanced.avro.schema.support': field
    .boolean({ doc: 'With avro: whether enums and namespaces are kept.', ...low })
    .default(false),
  'buffer.memory.bytes': bufferMemoryBytes,
  'timestamp.timezone': timeZone('Former name of file.name.timestamp.timezone.').default(''),
  'timestamp.source': field
    .oneOf(['wallclock', 'event'], { doc: 'Former name of file.name.timestamp.source.', ...low })
    .default('wallclock'),
  aws_s3_bucket: former('aws.s3.bucket.name'),
  aws_s3_region: former('aws.s3.region'),
  aws_s3_endpoint: field
    .text({ doc: 'Former name of aws.s3.endpoint.', ...low, reaches: 'url' })
    .refine(isServerUrl, 'expected http://HOST or https://HOST')
    .default(''),
  aws_s3_prefix: former('aws.s3.prefix'),
  aws_access_key_id: field.password({ doc: 'Former name of aws.access.key.id.', ...low }).default(''),
  aws_secret_access_key: field.password({ doc: 'Former name of aws.secret.access.key.', ...low }).default(''),
  output_compression: field
    .oneOf(COMPRESSION_TYPES, { doc: 'Former name of file.compression.type.', ...low })
    .default('gzip'),
  output_fields: outputFields({ doc: 'Former name of format.output.fields.', ...low }).default(['value']),
} as const

/** Keys of the original without effect, so that they are not reported as unknown. */
export const AIVEN_WITHOUT_EFFECT = [
  'aws.sts.role.session.duration',
  'aws.sts.config.endpoint',
  'aws.s3.backoff.delay.ms',
  'aws.s3.backoff.max.delay.ms',
  'aws.s3.fetch.page.size',
  'aws.s3.fetch.buffer.size',
  'file.prefix.template',
  'kafka.retry.backoff.ms',
] as const

export type AivenS3SinkConfig = z.infer<z.ZodObject<typeof fields>>

export const aivenS3SinkConfig = z
  .object(fields)
  .catchall(z.string())
  .superRefine((config, context) => {
    for (const [key, message] of problemsOf(config)) field.addProblem(context, key, message)
  })

/** The values of keys that have two names. */
export function currentKeys(config: AivenS3SinkConfig) {
  return {
    bucket: config['aws.s3.bucket.name'] || config.aws_s3_bucket,
    region: config['aws.s3.region'] || config.aws_s3_region || 'us-east-1',
    endpoint: config['aws.s3.endpoint'] || config.aws_s3_endpoint,
    prefix: config['aws.s3.prefix'] || config.aws_s3_prefix,
    accessKey: config['aws.access.key.id'] || config.aws_access_key_id,
    secretKey: config['aws.secret.access.key'] || config.aws_secret_access_key,
    compression: config['file.compression.type'] ?? config.output_compression,
    fields: config['format.output.fields'] ?? config.output_fields,
    timeZone: config['file.name.timestamp.timezone'] || config['timestamp.timezone'] || 'UTC',
    timestampSource: config['file.name.timestamp.source'] ?? config['timestamp.source'],
  }
}

/** Throws an `Error` for variables that do not exist. */
export function fileTemplate(config: AivenS3SinkConfig): FileTemplate {
  const { prefix, compression } = currentKeys(config)
  const extension = `${config['format.output.type'] === 'avro' ? '.avro' : ''}${compressionOf(compression)?.extension ?? ''}`
  if (prefix !== '')
    return new FileTemplate(`${prefix}{{topic}}-{{partition}}-{{start_offset:padding=true}}${extension}`)
  return new FileTemplate(config['file.name.template'] || `{{topic}}-{{partition}}-{{start_offset}}${extension}`)
}

function* problemsOf(config: AivenS3SinkConfig): Generator<readonly [key: string, message: string]> {
  const { bucket, accessKey, secretKey, fields: names } = currentKeys(config)
  if (bucket === '') yield ['aws.s3.bucket.name', 'aws.s3.bucket.name is required']
  if ((accessKey === '') !== (secretKey === ''))
    yield ['aws.secret.access.key', 'aws.access.key.id and aws.secret.access.key are set together or not at all']
  if ((config['aws.sts.role.arn'] === '') !== (config['aws.sts.role.session.name'] === ''))
    yield ['aws.sts.role.session.name', 'aws.sts.role.arn and aws.sts.role.session.name are set together or not at all']
  if (names.length === 0) yield ['format.output.fields', 'format.output.fields must name at least one field']
  if (!config['format.output.envelope'] && names.length > 1)
    yield ['format.output.envelope', 'format.output.envelope=false requires exactly one field in format.output.fields']
  yield* templateProblems(config)
}

function* templateProblems(config: AivenS3SinkConfig): Generator<readonly [key: string, message: string]> {
  const { prefix } = currentKeys(config)
  const key = prefix === '' ? 'file.name.template' : 'aws.s3.prefix'
  try {
    const template = fileTemplate(config)
    const isByOffset = template.has('start_offset')
    if (isByOffset && !(template.has('topic') && template.has('partition')))
      yield [key, `${key} with {{start_offset}} must also contain {{topic}} and {{partition}}`]
    if (!isByOffset && !template.has('key'))
      yield [key, `${key} must contain {{topic}}, {{partition}} and {{start_offset}}, or {{key}}`]
    if (!isByOffset && template.has('timestamp'))
      yield [key, `${key} with {{timestamp}} must also contain {{topic}}, {{partition}} and {{start_offset}}`]
    if (!isByOffset && config['file.max.records'] > 1)
      yield ['file.max.records', `file.max.records must be 0 or 1 if ${key} contains {{key}} without {{start_offset}}`]
    if (prefix === '' && template.has('utc_date', 'local_date'))
      yield [key, `${key} must not contain {{utc_date}} or {{local_date}}: expected {{timestamp:unit=yyyy|MM|dd|HH}}`]
  } catch (error) {
    yield [key, `Invalid value for configuration ${key}: ${(error as Error).message}`]
  }
}
