import { BrokerError } from '../broker-error.ts'

export type TopicConfigs = Readonly<Record<string, string>>

/** The topic configs that this broker applies, parsed. -1 means no limit, as in Kafka. */
export type TopicPolicy = {
  readonly compact: boolean
  readonly delete: boolean
  readonly retentionMs: number
  readonly retentionBytes: number
  readonly batchBytesMax: number
  readonly dirtyRatioMin: number
  readonly compactionLagMsMin: number
  readonly tombstoneRetentionMs: number
}

type Definition = { readonly fallback: string; readonly valid: (value: string) => boolean; readonly expected: string }

const LONG_MAX = 2 ** 63

const DEFINITIONS: Readonly<Record<string, Definition>> = {
  'cleanup.policy': {
    fallback: 'delete',
    valid: (value) => splitList(value).every((policy) => policy === 'delete' || policy === 'compact'),
    expected: "'delete', 'compact' or both",
  },
  'retention.ms': integer('604800000', -1),
  'retention.bytes': integer('-1', -1),
  'max.message.bytes': integer('1048588', 0),
  'min.cleanable.dirty.ratio': ratio('0.5'),
  'min.compaction.lag.ms': integer('0', 0),
  'delete.retention.ms': integer('86400000', 0),
  // Accepted and returned, but without effect: they configure log segments and replicas, which this broker lacks.
  'max.compaction.lag.ms': integer('9223372036854775807', 1),
  'min.insync.replicas': integer('1', 1),
  'segment.ms': integer('604800000', 1),
  'segment.bytes': integer('1073741824', 14),
  'segment.jitter.ms': integer('0', 0),
  'segment.index.bytes': integer('10485760', 4),
  'index.interval.bytes': integer('4096', 0),
  'file.delete.delay.ms': integer('60000', 0),
  'flush.messages': integer('9223372036854775807', 1),
  'flush.ms': integer('9223372036854775807', 0),
  'message.timestamp.type': oneOf('CreateTime', ['CreateTime']),
  'message.timestamp.before.max.ms': integer('9223372036854775807', 0),
  'message.timestamp.after.max.ms': integer('9223372036854775807', 0),
  'compression.type': oneOf('producer', ['producer', 'uncompressed', 'gzip', 'snappy', 'lz4', 'zstd']),
  'unclean.leader.election.enable': oneOf('false', ['true', 'false']),
  preallocate: oneOf('false', ['true', 'false']),
}

/** Throws `invalid_config` for an unknown name or an invalid value. */
export function checkConfigs(topic: string, configs: TopicConfigs): void {
  for (const [name, value] of Object.entries(configs)) {
    const definition = DEFINITIONS[name]
    if (definition === undefined) {
      throw new BrokerError('invalid_config', `topic '${topic}': unknown topic config '${name}'`)
    }
    if (!definition.valid(value)) {
      const message = `topic '${topic}': ${name} is '${value}', expected ${definition.expected}`
      throw new BrokerError('invalid_config', message)
    }
  }
}

/** Adds the defaults of configs that are not set. */
export function effectiveConfigs(configs: TopicConfigs): TopicConfigs {
  const defaults = Object.entries(DEFINITIONS).map(([name, { fallback }]) => [name, fallback])
  return { ...Object.fromEntries(defaults), ...configs }
}

export function toPolicy(configs: TopicConfigs): TopicPolicy {
  const effective = effectiveConfigs(configs)
  const policies = splitList(effective['cleanup.policy']!)
  const number = (name: string) => Number(effective[name])
  return {
    compact: policies.includes('compact'),
    delete: policies.includes('delete'),
    retentionMs: number('retention.ms'),
    retentionBytes: number('retention.bytes'),
    batchBytesMax: number('max.message.bytes'),
    dirtyRatioMin: number('min.cleanable.dirty.ratio'),
    compactionLagMsMin: number('min.compaction.lag.ms'),
    tombstoneRetentionMs: number('delete.retention.ms'),
  }
}

function splitList(value: string): string[] {
  return value.split(',').map((entry) => entry.trim())
}

function integer(fallback: string, min: number): Definition {
  const valid = (value: string) => /^-?\d+$/.test(value) && Number(value) >= min && Number(value) <= LONG_MAX
  return { fallback, valid, expected: `a whole number from ${min}` }
}

function ratio(fallback: string): Definition {
  const valid = (value: string) => value.trim() !== '' && Number(value) >= 0 && Number(value) <= 1
  return { fallback, valid, expected: 'a number from 0 to 1' }
}

function oneOf(fallback: string, values: readonly string[]): Definition {
  return { fallback, valid: (value) => values.includes(value), expected: values.join(', ') }
}
