import { describe, expect, it } from 'vitest'
import { s3SinkConfig } from '../../../../src/plugins/connectors/s3/s3-sink-config.ts'
import { parseConfig } from '../../../../src/sdk/index.ts'

const BUCKET = { 's3.bucket.name': 'lake' }
const STORAGE = 'io.confluent.connect.storage.partitioner'

describe('the configuration of the S3 sink', () => {
  it('accepts the classes of the original and short names', () => {
    const original = parseConfig(s3SinkConfig, {
      ...BUCKET,
      'format.class': 'io.confluent.connect.s3.format.avro.AvroFormat',
      'partitioner.class': `${STORAGE}.HourlyPartitioner`,
      'timestamp.extractor': `${STORAGE}.TimeBasedPartitioner$RecordTimestampExtractor`,
      'flush.size': '1000',
      locale: 'en_US',
      timezone: 'UTC',
    })
    const short = parseConfig(s3SinkConfig, {
      ...BUCKET,
      'format.class': 'avro',
      'partitioner.class': 'hourly',
      'timestamp.extractor': 'record',
      'flush.size': '1000',
      locale: 'en_US',
      timezone: 'UTC',
    })
    expect(original).toEqual(short)
  })

  it.each([
    [{ 'format.class': 'com.example.MyFormat' }, 'format.class'],
    [{ 'parquet.codec': 'lzo' }, 'parquet.codec'],
    [{ 'partitioner.class': 'com.example.MyPartitioner' }, 'partitioner.class'],
    [{ 'partitioner.class': 'field' }, 'partition.field.name'],
    [{ 'partitioner.class': 'daily', timezone: 'UTC' }, 'locale'],
    [{ 'partitioner.class': 'daily', locale: 'en' }, 'timezone'],
    [{ 'rotate.schedule.interval.ms': '1000' }, 'timezone'],
    [{ 'rotate.schedule.interval.ms': '1000', timezone: 'Mars' }, 'timezone'],
    [{ 'partitioner.class': 'time', locale: 'en', timezone: 'UTC', 'path.format': 'YYYY' }, 'partition.duration.ms'],
    [
      {
        'partitioner.class': 'time',
        locale: 'en',
        timezone: 'UTC',
        'partition.duration.ms': '1000',
        'path.format': "'x",
      },
      'path.format',
    ],
    [{ 'behavior.on.null.values': 'write' }, 'store.kafka.keys'],
    [{ 'aws.access.key.id': 'key' }, 'aws.secret.access.key'],
    [{ 's3.part.size': '1000' }, 's3.part.size'],
    [{ 'avro.codec': 'bzip2' }, 'avro.codec'],
    [{ 'store.url': 'minio:9000' }, 'store.url'],
    [{ 's3.credentials.provider.class': 'com.example.Mine' }, 's3.credentials.provider.class'],
    [
      { 's3.credentials.provider.class': 'io.confluent.connect.s3.auth.AwsAssumeRoleCredentialsProvider' },
      's3.credentials.provider.sts.role.arn',
    ],
    [{ 's3.object.tagging.key.value.pairs': 'team' }, 's3.object.tagging.key.value.pairs'],
    [{ 'headers.format.class': 'bytes' }, 'headers.format.class'],
    [{ 's3.wan.mode': 'true' }, 's3.path.style.access.enabled'],
  ])('is refused at the key that is wrong: %j', (changed, key) => {
    const parsed = s3SinkConfig.safeParse({ ...BUCKET, ...changed })
    expect(parsed.error?.issues.map(({ path }) => path[0])).toContain(key)
  })
})
