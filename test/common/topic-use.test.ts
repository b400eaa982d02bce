import { expect, it } from 'vitest'
import { subjectUses, topicUses } from '../../src/common/topic-use.ts'

const avro = (side: string, more: object = {}) => ({
  [`${side}.converter`]: 'io.confluent.connect.avro.AvroConverter',
  ...more,
})
const connector = (type: string, config: Readonly<Record<string, string>>) => ({ info: { name: 'x', type, config } })

const connectors = {
  orders: connector('source', { 'kafka.topic': 'orders', ...avro('value') }),
  archive: connector('sink', {
    topics: 'orders, payments',
    'errors.deadletterqueue.topic.name': 'failed',
    ...avro('value'),
    ...avro('key'),
  }),
  byType: connector('source', {
    topic: 'events',
    ...avro('value', { 'value.converter.value.subject.name.strategy': 'x.TopicRecordNameStrategy' }),
  }),
  team: connector('sink', {
    'topics.regex': 'team-.*',
    ...avro('value', { 'value.converter.schema.registry.url': 'http://r:8081/contexts/.team' }),
  }),
  plain: connector('sink', { topics: 'orders', 'value.converter': 'org.apache.kafka.connect.json.JsonConverter' }),
}

it('Topics of a connector are those of its configuration and those that it has used', () => {
  const uses = topicUses(connectors, { team: ['team-a'], archive: ['orders', 'failed'] })
  expect(uses.map(({ connector, kind, topic }) => `${connector} ${kind} ${topic}`)).toEqual([
    'orders writes orders',
    'archive reads orders',
    'archive reads payments',
    'archive dead letters failed',
    'byType writes events',
    'team reads team-a',
    'plain reads orders',
  ])
})

it.each([
  ['orders-value', ['orders'], ['archive', 'orders']],
  ['payments-key', ['payments'], ['archive']],
  ['orders-key', ['orders'], ['archive']],
  ['events-com.example.Paid', ['events'], ['byType']],
  [':.team:team-a-value', ['team-a'], ['team']],
  ['team-a-value', [], []],
  ['constructor', [], []],
])('The subject %s is used by the topics %j and the connectors %j', (subject, topics, users) => {
  const useOf = subjectUses(topicUses(connectors, { team: ['team-a'] }))
  expect(useOf(subject)).toEqual({ topics, connectors: users })
})
