import { describe, expect, it } from 'vitest'
import { httpSink } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { createCatalog } from '../../../src/plugins/plugin-catalog.ts'
import { toDescriptor } from '../../../src/plugins/plugin-descriptor.ts'
import type { ConnectorPlugin } from '../../../src/worker/configuration/connector-plugin.ts'
import { findUnknownKeys, findUnknownStepKeys } from '../../../src/worker/validation/unknown-keys.ts'
import { SHIPPED } from '../../support/shipped-plugins.ts'

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

describe('unknown keys of transforms, predicates and converters', () => {
  const catalog = createCatalog(SHIPPED.map((plugin) => toDescriptor(plugin)))

  it('are those that the plugin does not read, with a suggestion', () => {
    const config = {
      transforms: 'a,missing',
      'transforms.a.type': 'org.apache.kafka.connect.transforms.RegexRouter',
      'transforms.a.regex': '.*',
      'transforms.a.replacment': 'x',
      'transforms.a.predicate': 'p',
      'transforms.a.negate': 'true',
      'transforms.a.plugin.version': '1',
      'transforms.unlisted.type': 'Filter',
      predicates: 'p',
      'predicates.p.type': 'TopicNameMatches',
      'predicates.p.pattern': '.*',
      'predicates.p.negate': 'true',
      'value.converter': 'io.debezium.converters.BinaryDataConverter',
      'value.converter.schemas.enable': 'false',
      'value.converter.delegate.converter.type': 'JsonConverter',
      'value.converter.delegate.converter.type.schemas.enable': 'false',
      'value.converter.delegate.converter.typ.schemas.enable': 'false',
      'key.converter': 'com.example.NotInstalled',
      'key.converter.any': 'x',
    }
    expect(findUnknownStepKeys(catalog, config)).toEqual([
      { key: 'transforms.a.replacment', meant: 'transforms.a.replacement' },
      { key: 'predicates.p.negate' },
      { key: 'value.converter.delegate.converter.typ.schemas.enable' },
    ])
  })

  it('are limited in number', () => {
    const keys = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`transforms.a.k${at}`, '']))
    const config = { transforms: 'a', 'transforms.a.type': 'Filter', ...keys }
    expect(findUnknownStepKeys(catalog, config)).toHaveLength(20)
  })
})
