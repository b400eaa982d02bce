import { describe, expect, it } from 'vitest'
import { clientSettings, ineffectiveKeys, overrideProblems } from '../../../src/worker/configuration/client-settings.ts'

describe('clientSettings', () => {
  it('prefers overrides of the connector to settings of the worker', () => {
    const worker = { 'producer.compression.type': 'lz4', 'producer.delivery.timeout.ms': '5000' }
    const settings = clientSettings(worker, { 'producer.override.compression.type': 'zstd' })
    expect(settings.producer()).toMatchObject({ compression: 'zstd', deliveryTimeoutMs: 5_000 })
    expect(settings.consumer()).toEqual({})
  })

  it('derives the batch and record sizes of the Java producer', () => {
    const sizesWith = (keys: Record<string, string>) => {
      const { batchBytesMax, recordBytesMax } = clientSettings(keys, {}).producer()
      return [batchBytesMax, recordBytesMax]
    }
    expect(sizesWith({})).toEqual([1_000_000, 1_048_576])
    expect(sizesWith({ 'producer.max.request.size': '5000000' })).toEqual([1_000_000, 5_000_000])
    expect(sizesWith({ 'producer.batch.size': '16384' })).toEqual([16_384, 1_048_576])
    expect(sizesWith({ 'producer.max.request.size': '500', 'producer.batch.size': '16384' })).toEqual([500, 500])
  })

  it('maps all supported producer settings', () => {
    const keys = {
      'producer.buffer.memory': '1000',
      'producer.max.block.ms': '5000',
      'producer.transaction.timeout.ms': '9000',
    }
    const expected = { bufferBytesMax: 1_000, maxBlockMs: 5_000, transactionTimeoutMs: 9_000 }
    expect(clientSettings(keys, {}).producer()).toMatchObject(expected)
  })

  it('accepts a max.block.ms without a limit, as Kafka Connect sets it', () => {
    const keys = { 'producer.override.max.block.ms': '9223372036854775807' }
    expect(clientSettings({}, keys).producer()).toMatchObject({ maxBlockMs: 2 ** 63 })
  })

  it('maps all supported consumer settings', () => {
    const connector = {
      'consumer.override.auto.offset.reset': 'latest',
      'consumer.override.fetch.min.bytes': '2',
      'consumer.override.fetch.max.wait.ms': '100',
      'consumer.override.metadata.max.age.ms': '50',
      'consumer.override.fetch.max.bytes': '1000',
      'consumer.override.group.id': 'g',
      'consumer.override.group.instance.id': 'g-1',
      'consumer.override.heartbeat.interval.ms': '100',
      'consumer.override.isolation.level': 'read_uncommitted',
      'consumer.override.max.poll.interval.ms': '200',
      'consumer.override.max.poll.records': '7',
      'consumer.override.session.timeout.ms': '300',
    }
    expect(clientSettings({}, connector).consumer()).toEqual({
      startAt: 'latest',
      outOfRange: 'latest',
      fetchBytesMin: 2,
      fetchWaitMsMax: 100,
      metadataMaxAgeMs: 50,
      pollBytesMax: 1_000,
      groupId: 'g',
      instanceId: 'g-1',
      heartbeatMs: 100,
      isolation: 'read_uncommitted',
      pollIntervalMsMax: 200,
      pollRecordsMax: 7,
      sessionTimeoutMs: 300,
    })
    expect(ineffectiveKeys(connector, 'override.')).toEqual({})
  })

  it.each([
    ['PT1H', 3_600_000],
    ['P1DT2H3M4.5S', 93_784_500],
    ['pt0.001s', 1],
    ['PT-1H2H', undefined],
    ['PT0S', 0],
    ['PT-1H', undefined],
    ['-PT-1H', 3_600_000],
    ['1h', undefined],
    ['P', undefined],
    ['PT', undefined],
    ['P1M', undefined],
    ['', undefined],
  ])('reads auto.offset.reset=by_duration:%s as Kafka does', (duration, sinceMs) => {
    const config = { 'consumer.override.auto.offset.reset': `by_duration:${duration}` }
    const problems = overrideProblems(config, 'consumer').map(({ message }) => message)
    if (sinceMs === undefined) {
      expect(problems).toEqual([expect.stringContaining('by_duration:PnDTnHnMn.nS')])
    } else {
      expect(clientSettings({}, config).consumer()).toEqual({ startAt: { sinceMs }, outOfRange: { sinceMs } })
      expect(clientSettings({ 'consumer.auto.offset.reset': `by_duration:${duration}` }, {}).consumer()).toEqual({
        startAt: { sinceMs },
        outOfRange: { sinceMs },
      })
    }
  })

  it('maps auto.offset.reset=none to an error for an unknown offset', () => {
    const { startAt, outOfRange } = clientSettings({ 'consumer.auto.offset.reset': 'none' }, {}).consumer()
    expect([startAt, outOfRange]).toEqual(['none', 'error'])
  })

  it('ignores group.id and group.instance.id in the settings of the worker', () => {
    const worker = { 'consumer.group.id': 'one', 'consumer.group.instance.id': 'one', 'consumer.fetch.max.bytes': '7' }
    expect(clientSettings(worker, {}).consumer()).toEqual({ pollBytesMax: 7 })
  })

  it('separates the connection settings of producer, consumer and admin client', () => {
    const worker = { 'producer.security.protocol': 'SASL_SSL', 'producer.linger.ms': '5' }
    const settings = clientSettings(worker, {
      'producer.override.sasl.jaas.config': 'x',
      'admin.override.request.timeout.ms': '5',
    })
    expect(settings.connection('producer')).toEqual({ 'security.protocol': 'SASL_SSL', 'sasl.jaas.config': 'x' })
    expect(settings.connection('admin')).toEqual({ 'request.timeout.ms': '5' })
    expect(settings.connection('consumer')).toEqual({})
  })

  it('lists the settings that have no effect', () => {
    const connector = {
      'producer.override.linger.ms': '5',
      'producer.override.batch.size': '1',
      'consumer.override.x': '',
    }
    expect(ineffectiveKeys(connector, 'override.')).toEqual({
      'producer.override.linger.ms': 'batches grow while earlier ones are on their way',
      'consumer.override.x': 'Kafka’s consumer has no such setting',
    })
    expect(Object.keys(ineffectiveKeys({ 'producer.acks': '1', 'admin.sasl.mechanism': 'PLAIN' }, ''))).toEqual([
      'producer.acks',
    ])
  })

  it('rejects an invalid value with the key as the user wrote it', () => {
    const wrong = { 'producer.override.compression.type': 'rar' }
    const message =
      'Invalid value rar for configuration producer.override.compression.type: expected one of none, gzip, snappy, lz4, zstd'
    expect(overrideProblems(wrong, 'producer')).toEqual([{ key: 'producer.override.compression.type', message }])
    expect(overrideProblems(wrong, 'consumer')).toEqual([])
    expect(() => clientSettings({}, wrong).producer()).toThrow(message)
    const ofWorker = clientSettings({ 'consumer.max.poll.records': 'many' }, {})
    expect(() => ofWorker.consumer()).toThrow(/Invalid value many for configuration consumer\.max\.poll\.records: /)
  })
})
