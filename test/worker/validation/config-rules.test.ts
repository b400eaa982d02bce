import { expect, it } from 'vitest'
import { defineSource, UNRESTRICTED, z } from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { parseOverridePolicy } from '../../../src/worker/model/override-policy.ts'
import { WorkerError } from '../../../src/worker/model/worker-error.ts'
import type { PluginHost, PluginOperation } from '../../../src/worker/plugin-host.ts'
import { validateConnector } from '../../../src/worker/validation/validate-connector.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { OPEN_VALIDATION } from '../../support/topic-access.ts'

const SINK = { 'connector.class': 'FileStreamSink', name: 'out', file: '/tmp/out' }

async function errorsOf(
  config: Readonly<Record<string, string>>,
  key: string,
  plugins = localPluginHost(),
  exactlyOnceSources = false,
) {
  const { configs } = await validateConnector(
    { ...SINK, ...config },
    {
      plugins,
      groupId: 'workers',
      exactlyOnceSources,
      workerDefaults: {},
      overrides: parseOverridePolicy('All', [])!,
      access: UNRESTRICTED,
      ...OPEN_VALIDATION,
    },
    { connects: false },
  )
  return configs.find(({ value }) => value.name === key)?.value.errors
}

it('topics.regex is validated as a Java expression', async () => {
  expect(await errorsOf({ 'topics.regex': '(?i)orders-\\Q.\\E\\p{Alpha}+' }, 'topics.regex')).toEqual([])
  expect(await errorsOf({ 'topics.regex': 'orders-(' }, 'topics.regex')).toEqual([
    'Invalid value orders-( for configuration topics.regex: Invalid regex',
  ])
})

it('topic.creation settings of a source are validated by group', async () => {
  const source = { 'connector.class': 'Datagen', 'kafka.topic': 't' }
  const topicErrors = (keys: Readonly<Record<string, string>>) =>
    errorsOf({ ...source, ...keys }, 'topic.creation.groups')
  const valid = { 'topic.creation.default.partitions': '-1', 'topic.creation.default.replication.factor': '1' }
  expect(await topicErrors(valid)).toEqual([])
  expect(await topicErrors({ 'topic.creation.default.partitions': '3' })).toEqual([
    'Missing required configuration "topic.creation.default.replication.factor" which has no default value.',
  ])
  const group = { 'topic.creation.groups': 'g', 'topic.creation.g.include': '(', 'topic.creation.g.partitions': '0' }
  expect(await topicErrors({ ...valid, ...group })).toEqual([
    expect.stringMatching(/configuration topic\.creation\.g\.include: Syntax error in regular expression/),
    expect.stringMatching(/configuration topic\.creation\.g\.partitions: Number of partitions must be positive, or -1/),
  ])
})

it('transaction.boundary=connector is rejected for a source that defines no transactions', async () => {
  const plugins = (definesTransactions: boolean) => {
    const poll = async function* () {}
    const plugin = { class: 'Own', version: '1', summary: '', config: z.object({}), definesTransactions, poll }
    return localPluginHost([defineSource(plugin)])
  }
  const config = { 'connector.class': 'Own', 'transaction.boundary': 'Connector' }
  expect(await errorsOf(config, 'transaction.boundary', plugins(true))).toEqual([])
  expect(await errorsOf(config, 'transaction.boundary', plugins(false))).toEqual([
    'The connector does not support connector-defined transaction boundaries with the given configuration. ' +
      'Please reconfigure it to use a different transaction boundary definition.',
  ])
})

it('exactly.once.support=required is validated by the worker and by the connector', async () => {
  const config = { 'connector.class': 'Datagen', 'kafka.topic': 't', 'exactly.once.support': 'REQUIRED' }
  const errors = async (answer: () => string | null, exactlyOnceSources = true) => {
    const host = localPluginHost()
    const call = (async (operation: PluginOperation, ...rest: [never, never]) => {
      return operation === 'exactly-once-support' ? answer() : host.call(operation, ...rest)
    }) as PluginHost['call']
    return errorsOf(config, 'exactly.once.support', { ...host, call }, exactlyOnceSources)
  }
  const disabled = 'This worker does not have exactly-once source support enabled.'
  expect(await errorsOf(config, 'exactly.once.support', undefined, true)).toEqual([])
  expect(await errorsOf(config, 'exactly.once.support')).toEqual([disabled])
  const unsupported = 'The connector does not support exactly-once semantics with the provided configuration.'
  expect(await errors(() => 'unsupported', false)).toEqual([disabled, unsupported])
  expect(await errors(() => null)).toEqual([
    expect.stringMatching(/^The connector does not implement the API .*"requested"/),
  ])
  const failure = () => {
    throw new WorkerError('plugin_failed', 'no snapshot mode')
  }
  expect(await errors(failure)).toEqual(['An unexpected error occurred during validation: no snapshot mode'])
  const crash = () => {
    throw new WorkerError('plugin_crashed', 'the Java host ended')
  }
  await expect(errors(crash)).rejects.toThrow('the Java host ended')
})

it('a dead-letter topic that matches topics.regex is rejected', async () => {
  const deadLetters = { 'errors.deadletterqueue.topic.name': 'Orders-dead' }
  expect(await errorsOf({ ...deadLetters, 'topics.regex': '(?i)orders-.*' }, 'topics.regex')).toHaveLength(1)
  expect(await errorsOf({ ...deadLetters, 'topics.regex': 'orders-.*' }, 'topics.regex')).toEqual([])
})

it('an expression that may backtrack is not matched during validation, only in the task', async () => {
  const hostile = { 'errors.deadletterqueue.topic.name': `${'a'.repeat(40)}!` }
  const validate = async () => {
    expect(await errorsOf({ ...hostile, 'topics.regex': '(a+)+' }, 'topics.regex')).toEqual([])
    expect(await errorsOf({ ...hostile, 'topics.regex': '(a+)+(?=b)b' }, 'topics.regex')).toEqual([])
  }
  expect(await cpuMsOf(validate)).toBeLessThan(10_000)
  const own = { 'errors.deadletterqueue.topic.name': 'ab', 'topics.regex': 'a(?=b).' }
  expect(await errorsOf(own, 'topics.regex')).toEqual([])
  expect(() => parseTaskConfig({ 'connector.class': 'x', ...own })).toThrow(
    "The DLQ topic 'ab' may not be matched by the regex for the topics ('topics.regex=a(?=b).') consumed by the connector",
  )
})

it('a look-ahead at the start of topics.regex is supported', async () => {
  const deadLetters = { 'errors.deadletterqueue.topic.name': 'orders-dead' }
  expect(await errorsOf({ ...deadLetters, 'topics.regex': '^(?!internal-).*' }, 'topics.regex')).toHaveLength(1)
  expect(await errorsOf({ ...deadLetters, 'topics.regex': '(?!orders-).*' }, 'topics.regex')).toEqual([])
})
