import { expect, it } from 'vitest'
import { workerSettings } from '../../../src/worker/settings.ts'
import { TopicPolicies } from '../../../src/worker/topic-access/topic-policies.ts'

function open(settings: Readonly<Record<string, string>> = {}, others = { topics: ['reg'], groups: ['reg-group'] }) {
  const written = Object.entries(settings).map(([key, value]) => ({ key, value, source: 'the test' }))
  const policies = new TopicPolicies(workerSettings(written), others, {})
  let changes = 0
  policies.onChange(() => {
    changes += 1
  })
  return { policies, changes: () => changes }
}

const readable = (policies: TopicPolicies, topic: string) => policies.accessOf('c').allows('read', topic)

it('topics of the worker under their configured names, of Kafka, of registries and of the same process are denied', () => {
  const { policies } = open({ 'config.storage.topic': 'team-configs', 'connector.topics.denied': 'dump-*' })
  const denied = ['team-configs', 'connect-offsets', 'connect-status', '__consumer_offsets', '__transaction_state']
  for (const topic of [...denied, 'reg', 'dump-1']) expect([topic, readable(policies, topic)]).toEqual([topic, false])
  // The setting replaces the defaults, which are those of other programs.
  expect(readable(policies, '_schemas')).toBe(true)
  expect(readable(open().policies, '_schemas')).toBe(false)
  expect(policies.accessOf('c').groupProblem('connect-cluster')).toBeDefined()
  expect(policies.accessOf('c').groupProblem('reg-group')).toBeDefined()
  expect(policies.accessOf('c').groupProblem('weir-replayed-dead')).toBeDefined()
})

it('the offsets topics of connectors are denied as long as a connector configures them', () => {
  const { policies, changes } = open()
  policies.setConnector('a', { 'offsets.storage.topic': ' a-offsets ' })
  expect(readable(policies, 'a-offsets')).toBe(false)
  policies.setConnector('a', { 'offsets.storage.topic': 'a-offsets', topic: 't' })
  expect(changes()).toBe(1)
  policies.setConnector('a', undefined)
  expect(readable(policies, 'a-offsets')).toBe(true)
})

it('the group of a connector is denied to a connector that configured it before the other one existed', () => {
  const { policies, changes } = open()
  policies.setConnector('a', { 'consumer.override.group.id': 'connect-b' })
  expect(policies.accessOf('a').groupProblem('connect-b')).toBeUndefined()
  policies.setConnector('b', {})
  expect(policies.accessOf('a').groupProblem('connect-b')).toContain('another connector')
  expect(policies.accessOf('b').groupProblem('connect-b')).toBeUndefined()
  for (let at = 0; at < 10; at++) policies.setConnector(`c-${at}`, {})
  expect(changes()).toBe(1)
})

it('a configuration is checked before it is stored', () => {
  const { policies } = open()
  policies.setConnector('b', {})
  const config = { 'consumer.override.group.id': 'connect-b', 'offsets.storage.topic': 'mine' }
  const access = policies.accessWith('a', config)
  expect(access.groupProblem('connect-b')).toContain('another connector')
  expect(access.allows('write', 'mine')).toBe(false)
  expect(readable(policies, 'mine')).toBe(true)
})
