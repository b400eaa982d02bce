import { expect, it } from 'vitest'
import { subjectUses, topicUses } from '../../src/common/topic-use.ts'
import { publicConverters } from '../../src/worker/routes/connector-topics.ts'

const avro = (side: string, more: object = {}) => ({
  [`${side}.converter`]: 'io.confluent.connect.avro.AvroConverter',
  ...more,
})
const connector = (type: string, config: Readonly<Record<string, string>>) => ({ info: { name: 'x', type, config } })

const used = (topics: Readonly<Record<string, readonly string[]>>, defaultConverters = {}) => ({
  topics,
  defaultConverters,
})

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
  const uses = topicUses(connectors, used({ team: ['team-a'], archive: ['orders', 'failed'] }))
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
  const useOf = subjectUses(topicUses(connectors, used({ team: ['team-a'] })))
  expect(useOf(subject)).toEqual({ topics, connectors: users })
})

it('A connector without converters uses the subjects of those of its worker', () => {
  const defaults = publicConverters({
    ...avro('value', { 'value.converter.schema.registry.url': 'http://user:secret@r:8081/contexts/.team' }),
    'value.converter.basic.auth.user.info': 'user:secret',
    'key.converter': 'StringConverter',
  })
  expect(JSON.stringify(defaults)).not.toContain('secret')
  const own = { lines: connector('source', { topic: 'lines' }), json: connectors.plain }
  const useOf = subjectUses(topicUses(own, used({}, defaults)))
  expect(useOf(':.team:lines-value')).toEqual({ topics: ['lines'], connectors: ['lines'] })
  expect(['lines-value', ':.team:lines-key', ':.team:orders-value'].map((name) => useOf(name).connectors)).toEqual([
    [],
    [],
    [],
  ])
})
