import { describe, expect, it } from 'vitest'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { convertTexts } from '../../support/conversion.ts'

function connector(spec: string, metadata = ''): string {
  return `apiVersion: kafka.strimzi.io/v1
kind: KafkaConnector
metadata:
  name: orders-source
  namespace: shop
  labels:
    strimzi.io/cluster: shop-connect
    team: orders
${metadata}
spec:
  class: FileStreamSource
${spec}
`
}

const convert = (spec: string, metadata?: string) => convertTexts({ 'a.yaml': connector(spec, metadata) })

describe('a KafkaConnector of Strimzi', () => {
  it('becomes a Connector of the worker cluster that its label names', () => {
    const { manifests, findings } = convert(
      '  tasksMax: 2\n  version: "[1.2,2)"\n  config:\n    file: /data/in\n    batch.size: 2000\n    enabled: true',
    )
    expect(findings).toEqual([])
    expect(manifests).toEqual([
      {
        apiVersion: API_VERSION,
        kind: 'Connector',
        metadata: { name: 'orders-source', namespace: 'shop', labels: { team: 'orders' } },
        spec: {
          workerRef: { name: 'shop-connect' },
          class: 'FileStreamSource',
          version: '[1.2,2)',
          tasksMax: 2,
          autoRestart: { enabled: false },
          config: { file: '/data/in', 'batch.size': '2000', enabled: 'true' },
        },
      },
    ])
  })

  it.each([
    ['  state: stopped', 'Stopped'],
    ['  pause: true', 'Paused'],
    ['  pause: true\n  state: running', 'Running'],
    ['  pause: false', undefined],
  ])('with the state "%s" keeps it', (spec, state) => {
    expect(convert(spec).spec['state']).toBe(state)
  })

  it('restarts automatically only if it declares it, with its limit', () => {
    expect(convert('').spec['autoRestart']).toEqual({ enabled: false })
    expect(convert('  autoRestart:\n    maxRestarts: 7').spec['autoRestart']).toEqual({ enabled: true, maxRestarts: 7 })
  })

  it('becomes a suspended Connector if its reconciliation is paused', () => {
    expect(convert('', '  annotations: {strimzi.io/pause-reconciliation: "true"}').spec['suspend']).toBe(true)
  })

  it('exports its offsets to the ConfigMap of listOffsets', () => {
    const { spec } = convert('  listOffsets:\n    toConfigMap:\n      name: offsets')
    expect(spec['offsets']).toEqual({ export: { configMapRef: { name: 'offsets' } } })
  })

  it('alters offsets only while an annotation requests it', () => {
    const alter = '  alterOffsets:\n    fromConfigMap:\n      name: rewound'
    const unrequested = convert(alter)
    expect(unrequested.spec['offsets']).toBeUndefined()
    expect(unrequested.findings).toEqual([
      expect.stringMatching(/^a\.yaml:\d+: spec\.alterOffsets: .*spec\.offsets\.operation/),
    ])
    const requested = convert(alter, '  annotations: {strimzi.io/connector-offsets: alter}')
    expect(requested.findings).toEqual([])
    expect(requested.spec['offsets']).toEqual({
      operation: { id: 'strimzi-alter', type: 'Alter', offsetsFrom: { configMapKeyRef: { name: 'rewound' } } },
    })
  })

  it('reports each field without a counterpart at its line', () => {
    const { findings } = convert(
      '  config:\n    topics:\n    - a\n    empty:\n  futureField: 1',
      '  annotations: {strimzi.io/x: y}',
    )
    expect(findings).toEqual([
      'a.yaml:9: metadata.annotations["strimzi.io/x"]: has no counterpart in Weir: check whether it is still needed',
      'a.yaml:13: spec.config.topics: has a value that cannot be converted: expected a text',
      'a.yaml:15: spec.config.empty: has no value: set one, or remove the key',
      'a.yaml:16: spec.futureField: has no counterpart in Weir: check whether it is still needed',
    ])
  })

  it('loses no digits of large numbers', () => {
    expect(convert('  config: {offset: 9223372036854775807}').spec['config']).toEqual({ offset: '9223372036854775807' })
  })

  it('is reported and not written if it has no class', () => {
    const { manifests, findings } = convertTexts({
      'a.yaml': connector('  tasksMax: 1').replace('  class: FileStreamSource\n', ''),
    })
    expect(manifests).toEqual([])
    expect(findings).toEqual([
      expect.stringContaining('a.yaml:1: is not a valid Connector of Weir: spec.class is missing'),
    ])
  })
})
