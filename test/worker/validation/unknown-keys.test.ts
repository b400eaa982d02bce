import { expect, it } from 'vitest'
import { httpSink } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { toDescriptor } from '../../../src/plugins/plugin-descriptor.ts'
import type { ConnectorPlugin } from '../../../src/worker/configuration/connector-plugin.ts'
import { findUnknownKeys } from '../../../src/worker/validation/unknown-keys.ts'

const sink = toDescriptor(httpSink) as ConnectorPlugin

it('unknown keys are those that neither the connector nor its converters, transforms or clients define, with a suggestion', () => {
  const known = {
    name: 'out',
    'connector.class': 'HttpSink',
    topics: 't',
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': 'dead',
    'http.api.url': 'http://h/',
    'value.converter': 'JsonConverter',
    'value.converter.schemas.enable': 'false',
    transforms: 'a',
    'transforms.a.type': 'Filter',
    'consumer.override.max.poll.records': '10',
    'weir.owner': 'weir/default/out',
  }
  expect(findUnknownKeys(sink, known)).toEqual([])
  expect(
    findUnknownKeys(sink, { ...known, 'http.api.uri': 'x', 'task.max': '2', 'reporter.producer.acks': 'x' }),
  ).toEqual([
    { key: 'http.api.uri', meant: 'http.api.url' },
    { key: 'task.max', meant: 'tasks.max' },
    { key: 'reporter.producer.acks' },
  ])
})
