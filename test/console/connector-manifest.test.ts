import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { connectorManifest, resourceNameFor } from '../../src/console/page/connector-manifest.ts'
import { parseResource } from '../../src/operator/resources/parse-resource.ts'

function parsed(options: Parameters<typeof connectorManifest>[0]) {
  const { declared, errors } = parseResource(parse(connectorManifest(options)))
  expect(errors).toEqual([])
  return declared
}

it('A manifest is a resource that the operator accepts, with every value as it is', () => {
  const odd = {
    'a.b': 'yes',
    'c:d': ' # no comment\n"quoted" \\ ${file:x}',
    e: '1.0',
    f: '',
    g: '\u2028\u0085\ufeff💡',
    '- h': '*alias',
    'transforms.x.regex': '^(.*)$',
  }
  const declared = parsed({
    connector: 'Orders_Sink#1',
    config: {
      ...odd,
      name: 'Orders_Sink#1',
      'connector.class': 'FileStreamSink',
      'tasks.max': '4',
      'weir.owner': 'a/b/c',
    },
    state: 'PAUSED',
    namespace: 'team',
    worker: 'west',
  })
  expect(declared).toMatchObject({
    kind: 'Connector',
    namespace: 'team',
    name: 'orders-sink-1',
    spec: { workerRef: { name: 'west' }, class: 'FileStreamSink', tasksMax: 4, state: 'Paused', config: odd },
  })
})

it('The name of a resource is not repeated, and a running connector needs no state', () => {
  const text = connectorManifest({ connector: 'orders', config: { 'connector.class': 'Datagen' }, state: 'RUNNING' })
  expect(text).toBe(`apiVersion: ${API_VERSION}\nkind: Connector\nmetadata:\n  name: orders\nspec:\n  class: Datagen\n`)
})

it('Values that are secret are references, and placeholders stay', () => {
  const options = {
    connector: 'db',
    config: {
      'connector.class': 'Jdbc',
      'connection.password': 'hunter2-a',
      'db.pin': 'hunter2-b',
      'connection.url': 'postgresql://me:hunter2-c@db/x',
      'proxy.user': '[hidden]',
      'token.endpoint.url': 'https://login',
      'other.password': '${file:/run/p:x}',
    },
    secretKeys: new Set(['db.pin']),
  }
  expect(connectorManifest(options)).not.toContain('hunter2')
  const { spec } = parsed(options)!
  expect(spec).toMatchObject({
    config: { 'token.endpoint.url': 'https://login', 'other.password': '${file:/run/p:x}' },
    valuesFrom: ['connection.password', 'connection.url', 'db.pin', 'proxy.user'].map((key) => ({
      key,
      secretKeyRef: { name: 'db-connector', key },
    })),
  })
})

it('Every name of a connector gives a valid name of a resource', () => {
  for (const connector of ['A', 'a..b', '-x-', '...', 'a.-.b', 'ü', 'x'.repeat(255)])
    parsed({ connector, config: { 'connector.class': 'Datagen' } })
  expect(resourceNameFor('My Orders')).toBe('my-orders')
})
