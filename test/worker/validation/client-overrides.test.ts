import { expect, it } from 'vitest'
import { UNRESTRICTED } from '../../../src/sdk/index.ts'
import { parseOverridePolicy } from '../../../src/worker/model/override-policy.ts'
import { overrideEntries } from '../../../src/worker/validation/client-overrides.ts'
import { topicAccess } from '../../support/topic-access.ts'

const config = {
  'producer.override.linger.ms': '5',
  'consumer.override.sasl.mechanism': 'PLAIN',
  'admin.override.client.id': 'x',
}

function block(policy: string, kind: 'source' | 'sink', more: Record<string, string> = {}, allowed: string[] = []) {
  const found = parseOverridePolicy(policy, allowed)
  if (!found) throw new Error(`no policy ${policy}`)
  return overrideEntries({ ...config, ...more }, kind, found, { host: UNRESTRICTED, topics: topicAccess() }).map(
    ({ value }) => [value.name, ...value.errors],
  )
}

it('client overrides are validated for the clients that the connector uses', () => {
  const deadLetters = { 'errors.deadletterqueue.topic.name': 'd' }
  expect(block('All', 'source')).toEqual([['producer.override.linger.ms']])
  expect(block('All', 'source', { 'topic.creation.groups': 'g' })).toHaveLength(2)
  expect(block('All', 'source', deadLetters)).toHaveLength(2)
  expect(block('All', 'sink')).toEqual([['consumer.override.sasl.mechanism']])
  expect(block('All', 'sink', deadLetters).map(([name]) => name)).toEqual(Object.keys(config))
})

it('a client that Kafka Connect does not validate is bound to the policy, because the connector uses it in Weir', () => {
  expect(block('None', 'source').map(([name]) => name)).toEqual(Object.keys(config))
  expect(block('None', 'sink').map(([name]) => name)).toEqual([
    'consumer.override.sasl.mechanism',
    'admin.override.client.id',
  ])
  const servers = { 'admin.override.bootstrap.servers': 'other:9092' }
  expect(block('Principal', 'source', servers)).toContainEqual([
    'admin.override.bootstrap.servers',
    expect.stringContaining("The 'Principal' policy does not allow 'admin.override.bootstrap.servers'"),
  ])
})

it('a client override that the policy forbids is rejected with the name of the policy', () => {
  const message = `The 'None' policy does not allow 'producer.override.linger.ms' to be overridden in the connector configuration.`
  expect(block('None', 'source')).toContainEqual(['producer.override.linger.ms', message])
  expect(block('Principal', 'source')[0]).toHaveLength(2)
  expect(block('Principal', 'sink')[0]).toHaveLength(1)
  expect(block('Allowlist', 'source', {}, ['linger.ms'])[0]).toHaveLength(1)
})

it('a client override with an invalid value is rejected', () => {
  const [, [name, ...errors] = []] = block('All', 'source', { 'producer.override.batch.size': 'big' })
  expect(name).toBe('producer.override.batch.size')
  expect(errors).toEqual([
    expect.stringMatching(/^Invalid value big for configuration producer\.override\.batch\.size: /),
  ])
})

it('override policies are found by their short names and Java classes', () => {
  const java = 'org.apache.kafka.connect.connector.policy.PrincipalConnectorClientConfigOverridePolicy'
  expect(parseOverridePolicy(java, [])?.name).toBe('Principal')
  expect(parseOverridePolicy('Anything', [])).toBeUndefined()
})
