import { describe, expect, it } from 'vitest'
import { convertTexts } from '../../support/conversion.ts'

const schema = (spec: string, name = 'orders-value') => `apiVersion: cluster.redpanda.com/v1alpha2
kind: Schema
metadata: {name: ${name}}
spec:
  cluster: {clusterRef: {name: main}}
  text: |
    {"type": "record", "name": "Order", "fields": []}
${spec}
`

describe('a Schema of Redpanda', () => {
  it('becomes a Subject, with the level that Redpanda sets by default', () => {
    const { manifests, findings } = convertTexts({ 'a.yaml': schema('') })
    expect(findings).toEqual([])
    expect(manifests).toMatchObject([
      {
        kind: 'Subject',
        metadata: { name: 'orders-value' },
        spec: {
          registryRef: { name: 'main' },
          schema: '{"type": "record", "name": "Order", "fields": []}\n',
          compatibility: 'BACKWARD',
        },
      },
    ])
  })

  it.each([
    ['avro', 'AVRO'],
    ['json', 'JSON'],
    ['protobuf', 'PROTOBUF'],
  ])('keeps the format %s', (format, schemaType) => {
    expect(convertTexts({ 'a.yaml': schema(`  schemaType: ${format}`) }).spec['schemaType']).toBe(schemaType)
  })

  it.each(['None', 'Backward', 'BackwardTransitive', 'Forward', 'ForwardTransitive', 'Full', 'FullTransitive'])(
    'keeps the level %s',
    (level) => {
      const { spec } = convertTexts({ 'a.yaml': schema(`  compatibilityLevel: ${level}`) })
      expect(String(spec['compatibility']).replace('_', '').toLowerCase()).toBe(level.toLowerCase())
    },
  )

  it('keeps its references', () => {
    const reference = '  references: [{name: com.example.Address, subject: address, version: 2}]'
    expect(convertTexts({ 'a.yaml': schema(reference) }).spec['references']).toEqual([
      { name: 'com.example.Address', subject: 'address', version: 2 },
    ])
    const both = convertTexts({ 'a.yaml': schema(reference), 'b.yaml': schema('', 'address') })
    expect(both.spec['references']).toEqual([
      { name: 'com.example.Address', subjectRef: { name: 'address' }, version: 2 },
    ])
  })

  it('reports credentials of a registry without their values', () => {
    const text = schema('').replace(
      '{clusterRef: {name: main}}',
      '{staticConfiguration: {schemaRegistry: {password: pa55word}}}',
    )
    const { findings, text: printed } = convertTexts({ 'a.yaml': text })
    expect(findings).toEqual([expect.stringMatching(/^a\.yaml:5: spec\.cluster\.staticConfiguration: /)])
    expect(printed).not.toContain('pa55word')
  })
})
