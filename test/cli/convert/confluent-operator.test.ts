import { describe, expect, it } from 'vitest'
import { convertTexts } from '../../support/conversion.ts'

const configMap = (name: string, text: string) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' }, data: { schema: text } })

function schema(spec: string, name = 'orders-value'): string {
  return `apiVersion: platform.confluent.io/v1beta1
kind: Schema
metadata: {name: ${name}, namespace: shop}
spec:
  data: {configRef: ${name}-text, format: avro}
${spec}
`
}

describe('a Connector of Confluent for Kubernetes', () => {
  const connector = (spec: string) => `apiVersion: platform.confluent.io/v1beta1
kind: Connector
metadata: {name: orders-sink, namespace: shop}
spec:
  name: Orders
  class: io.example.Sink
  taskMax: 4
  connectClusterRef: {name: connect, namespace: confluent}
  configs: {topics: orders, tasks.max: "4", connector.class: io.example.Sink}
${spec}
`

  it('becomes a Connector of the worker cluster that it refers to', () => {
    const { manifests, findings } = convertTexts({
      'a.yaml': connector('  restartPolicy: {type: OnFailure, maxRetry: 5}'),
    })
    expect(findings).toEqual([])
    expect(manifests).toMatchObject([
      {
        metadata: { name: 'orders-sink', namespace: 'shop' },
        spec: {
          name: 'Orders',
          class: 'io.example.Sink',
          tasksMax: 4,
          workerRef: { name: 'connect' },
          config: { topics: 'orders' },
          autoRestart: { enabled: true, maxRestarts: 5 },
        },
      },
    ])
  })

  it('never restarts automatically if its policy says so', () => {
    expect(convertTexts({ 'a.yaml': connector('  restartPolicy: {type: Never}') }).spec['autoRestart']).toEqual({
      enabled: false,
    })
  })

  it('reports credentials for the REST API of its worker, unless the command line names the worker cluster', () => {
    const text = connector('  connectRest:\n    endpoint: https://connect:8083\n    authentication: {type: basic}')
    const { findings, manifests } = convertTexts({ 'a.yaml': text })
    expect(findings).toEqual([expect.stringMatching(/^a\.yaml:10: spec\.connectRest: .*configuration of the operator/)])
    expect(manifests).toHaveLength(1)
    expect(convertTexts({ 'a.yaml': text }, { workerRef: 'main' })).toMatchObject({
      findings: [],
      spec: { workerRef: { name: 'main' } },
    })
  })

  it('takes its class from the field of the resource if the configuration declares one as well, with a note', () => {
    const { spec, findings } = convertTexts({ 'a.yaml': connector('').replace('tasks.max: "4"', 'tasks.max: "9"') })
    expect(spec['tasksMax']).toBe(4)
    expect(findings).toEqual(['a.yaml:1: note: declares tasksMax twice: 4 is used, not 9'])
  })

  it('is also converted from the resource of a blueprint', () => {
    const { spec, findings } = convertTexts({
      'a.yaml': `apiVersion: apps.cpc.platform.confluent.io/v1beta1
kind: Connector
metadata: {name: pages}
spec:
  connectClusterRef: {name: connect}
  connectorConfigs: {class: io.example.Source, taskMax: 2, configs: {topic: pages}}
`,
    })
    expect(findings).toEqual([])
    expect(spec).toMatchObject({ class: 'io.example.Source', tasksMax: 2, config: { topic: 'pages' } })
  })
})

describe('a Schema of Confluent for Kubernetes', () => {
  it('becomes a Subject with the text of the ConfigMap of the input', () => {
    const { manifests, findings } = convertTexts({
      'a.yaml': schema('  compatibilityLevel: FULL\n  schemaRegistryClusterRef: {name: registry}'),
      'b.json': configMap('orders-value-text', '"string"'),
    })
    expect(findings).toEqual([])
    expect(manifests).toMatchObject([
      {
        kind: 'Subject',
        metadata: { name: 'orders-value', namespace: 'shop' },
        spec: { registryRef: { name: 'registry' }, schemaType: 'AVRO', schema: '"string"', compatibility: 'FULL' },
      },
    ])
  })

  it('refers to a ConfigMap outside of the input', () => {
    const { spec, findings } = convertTexts({ 'a.yaml': schema('') })
    expect(spec['schemaFrom']).toEqual({ configMapKeyRef: { name: 'orders-value-text', key: 'schema' } })
    expect(findings).toEqual([expect.stringMatching(/^a\.yaml:5: note: spec\.data\.configRef: /)])
  })

  it('refers to a schema of the input by its resource, and to another one by its version', () => {
    const reference = (subject: string, version: string) =>
      `  schemaReferences: [{format: avro, subject: ${subject}, version: "${version}", avro: {avro: com.example.Address}}]`
    const texts = { 'c.json': configMap('orders-value-text', '"string"'), 'd.json': configMap('address-text', '"int"') }
    const both = convertTexts({
      'a.yaml': schema(reference('address-subject', 'latest')),
      'b.yaml': schema('  name: address-subject', 'address'),
      ...texts,
    })
    expect(both.findings).toEqual([])
    expect(both.spec['references']).toEqual([{ name: 'com.example.Address', subjectRef: { name: 'address' } }])
    const pinned = convertTexts({ 'a.yaml': schema(reference('address-subject', '3')), ...texts })
    expect(pinned.spec['references']).toEqual([{ name: 'com.example.Address', subject: 'address-subject', version: 3 }])
    const latest = convertTexts({ 'a.yaml': schema(reference('address-subject', 'latest')), 'c.json': texts['c.json'] })
    expect(latest.findings).toEqual([
      expect.stringMatching(/^a\.yaml:6: spec\.schemaReferences\[0\]: .*latest version/),
    ])
  })

  it('becomes a Subject and a RegistryMode if it declares a mode', () => {
    const { manifests } = convertTexts({
      'a.yaml': schema('  mode: READONLY'),
      'b.json': configMap('orders-value-text', '"int"'),
    })
    expect(manifests).toMatchObject([
      { kind: 'Subject' },
      { kind: 'RegistryMode', spec: { scope: { type: 'Subject', subject: 'orders-value' }, mode: 'READONLY' } },
    ])
  })
})
