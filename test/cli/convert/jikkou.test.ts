import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { convertTexts } from '../../support/conversion.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

describe('a KafkaConnector of Jikkou', () => {
  it('becomes a Connector of the cluster that its label names', () => {
    const { manifests, findings } = convertTexts({
      'a.yaml': `apiVersion: kafka.jikkou.io/v1beta1
kind: KafkaConnector
metadata:
  name: local-file-sink
  labels: {kafka.jikkou.io/connect-cluster: shop, team: a}
spec:
  connectorClass: FileStreamSink
  tasksMax: 1
  config: {file: /data/out, topics: orders}
  state: RUNNING
`,
    })
    expect(findings).toEqual([])
    expect(manifests).toMatchObject([
      {
        metadata: { name: 'local-file-sink', labels: { team: 'a' } },
        spec: { workerRef: { name: 'shop' }, class: 'FileStreamSink', tasksMax: 1, state: 'Running' },
      },
    ])
  })

  it('reports credentials for the REST API of its worker without their values', () => {
    const { findings, text } = convertTexts({
      'a.yaml': `apiVersion: kafka.jikkou.io/v1
kind: KafkaConnector
metadata: {name: a, annotations: {jikkou.io/config-override: '{"password": "pa55word"}'}}
spec: {connectorClass: X}
`,
    })
    expect(findings).toEqual([
      expect.stringMatching(/^a\.yaml:3: metadata\.annotations\["jikkou\.io\/config-override"\]: /),
    ])
    expect(text).not.toContain('pa55word')
  })
})

const subject = (schema: string, more = '') => `apiVersion: schemaregistry.jikkou.io/v1
kind: SchemaRegistrySubject
metadata:
  name: User
  annotations:
    schemaregistry.jikkou.io/normalize-schema: true
    schemaregistry.jikkou.io/schema-id: "4"
spec:
  compatibilityLevel: FULL_TRANSITIVE
  schemaType: AVRO
  schema: ${schema}
${more}
`

describe('a SchemaRegistrySubject of Jikkou', () => {
  it('becomes a Subject that keeps its name in the registry', () => {
    const { manifests, findings } = convertTexts({ 'a.yaml': subject('\'"string"\'') })
    expect(findings).toEqual([expect.stringContaining('note: ')])
    expect(manifests).toMatchObject([
      {
        metadata: { name: 'user' },
        spec: {
          subject: 'User',
          schema: '"string"',
          schemaType: 'AVRO',
          normalize: true,
          compatibility: 'FULL_TRANSITIVE',
        },
      },
    ])
  })

  it('keeps a declared mode and a declared permanent deletion', () => {
    const text = subject('\'"string"\'', '  mode: IMPORT').replace('normalize-schema', 'permanante-delete')
    expect(convertTexts({ 'a.yaml': text }).manifests).toMatchObject([
      { kind: 'Subject', spec: { deletionPolicy: 'HardDelete' } },
      { kind: 'RegistryMode', metadata: { name: 'user' }, spec: { scope: { subject: 'User' }, mode: 'IMPORT' } },
    ])
  })

  it('contains the text of the file that it refers to, if the file is in the directory of the input', () => {
    const outside = temporaryDirectory()
    const root = join(outside, 'in')
    mkdirSync(root)
    writeFileSync(join(root, 'user.avsc'), '"int"')
    writeFileSync(join(outside, 'secret.txt'), 'pa55word')
    expect(convertTexts({ 'a.yaml': subject('{$ref: ./user.avsc}') }, { root }).spec['schema']).toBe('"int"')
    const refused = ['../secret.txt', join(outside, 'secret.txt'), 'https://example.com/a.avsc', 'missing.avsc']
    for (const path of refused) {
      const { findings, text } = convertTexts({ 'a.yaml': subject(`{$ref: '${path}'}`) }, { root })
      expect(findings).toContainEqual(expect.stringMatching(/^a\.yaml:11: spec\.schema\.\$ref: /))
      expect(text).not.toContain('pa55word')
    }
  })
})
