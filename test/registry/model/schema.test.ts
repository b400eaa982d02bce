import { describe, expect, it } from 'vitest'
import { guidOf, toUuid } from '../../../src/registry/model/schema.ts'

const text =
  '{"type":"record","name":"Person","namespace":"io.confluent.kafka.example","fields":[{"name":"name","type":"string"},{"name":"age","type":"int"},{"name":"ssn","type":"string"},{"name":"user","type":"io.confluent.kafka.example.User"},{"name":"address","type":"io.confluent.kafka.example.Address"}]}'
const references = [
  { name: 'io.confluent.kafka.example.User', subject: 'User', version: 1 },
  { name: 'io.confluent.kafka.example.Address', subject: 'Address', version: 2 },
]
const metadata = {
  tags: { team: ['data-engineering'], environment: ['staging', 'production'] },
  properties: { owner: 'data-team', version: '1.0.0', description: 'Person schema for user management' },
  sensitive: ['ssn', 'credit-card'],
}

describe('the GUID of a schema', () => {
  it.each([
    ['a text only', [], undefined, 'd629bb05-ad85-3d20-fbcb-895de3c459f7'],
    ['metadata in any order', [], metadata, '2034166c-90a8-1166-0ff2-f5f62c80dbe0'],
    ['references', references, undefined, '5c08d70e-5347-41b2-6369-199425d044eb'],
    ['references and metadata', references, metadata, '3619d8e0-2ee8-de51-0d9e-2520d39174d5'],
  ])('equals that of Confluent’s registry for %s', (_, refs, meta, guid) => {
    expect(guidOf({ text, references: refs, metadata: meta, ruleSet: undefined })).toBe(guid)
  })

  it('depends on rules and on whether they are disabled', () => {
    const rule = { name: 'r', type: 'T', mode: 'WRITE' }
    const guid = (ruleSet: object | undefined) => guidOf({ text, references: [], metadata: undefined, ruleSet })
    const guids = [undefined, {}, { domainRules: [rule] }, { domainRules: [{ ...rule, disabled: true }] }].map(guid)
    expect(new Set(guids).size).toBe(4)
  })

  it('is formatted as a UUID, also if it was stored without hyphens', () => {
    expect(toUuid('D629BB05AD853D20FBCB895DE3C459F7')).toBe('d629bb05-ad85-3d20-fbcb-895de3c459f7')
  })
})
