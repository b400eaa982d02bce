import { describe, expect, it } from 'vitest'
import type { Association } from '../../../src/registry/model/association.ts'
import type { Subject } from '../../../src/registry/model/subject.ts'
import { RecordCodec } from '../../../src/registry/store/record-codec.ts'
import { RegistryState } from '../../../src/registry/store/registry-state.ts'

const association: Association = {
  guid: '3f0c',
  subject: ':.ns:t-value' as Subject,
  resourceName: 't',
  resourceNamespace: 'ns',
  resourceId: 'id-1',
  resourceType: 'topic',
  associationType: 'value',
  lifecycle: 'STRONG',
  frozen: true,
}
const KEY =
  '{"keytype":"ASSOC","tenant":"default","resourceName":"t","resourceNamespace":"ns","resourceType":"topic","associationType":"value","subject":":.ns:t-value","magic":0}'
const VALUE =
  '{"guid":"3f0c","tenant":"default","resourceName":"t","resourceNamespace":"ns","resourceId":"id-1","resourceType":"topic","associationType":"value","subject":":.ns:t-value","lifecycle":"STRONG","frozen":true}'

describe('the record of an association', () => {
  it('has the key and value of Confluent’s registry', () => {
    const { key, value } = new RecordCodec().encode({ kind: 'association', association, value: association })
    expect([String(key), String(value)]).toEqual([KEY, VALUE])
    expect(new RecordCodec().decode(key, value)).toMatchObject({ kind: 'association', value: association })
    const tombstone = new RecordCodec().encode({ kind: 'association', association, value: null })
    expect([String(tombstone.key), tombstone.value]).toEqual([KEY, null])
  })

  it('is found by subject and resource until its tombstone, and keeps the creation time of its first record', () => {
    const state = new RegistryState()
    state.apply({ kind: 'association', association, value: association }, 1)
    state.apply({ kind: 'association', association, value: { ...association, resourceId: 'id-2' } }, 5)
    const stored = { ...association, resourceId: 'id-2', createTimestampMs: 1, updateTimestampMs: 5 }
    expect(state.associationsOfSubject(association.subject)).toEqual([stored])
    expect(state.associationsOfResource('id-1')).toEqual([])
    expect(state.associationsOfResource('id-2')).toEqual([stored])
    state.apply({ kind: 'association', association, value: null }, 9)
    expect([...state.associations(), ...state.associationsOfSubject(association.subject)]).toEqual([])
  })

  it.each([
    [KEY.replace('"resourceName":"t",', ''), VALUE, 'its resourceName is not a string'],
    [KEY, VALUE.replace('STRONG', 'OTHER'), "its lifecycle 'OTHER' is unknown"],
  ])('is rejected with an error if it is invalid (%#)', (key, value, message) => {
    expect(() => new RecordCodec().decode(Buffer.from(key), Buffer.from(value))).toThrow(message)
  })
})
