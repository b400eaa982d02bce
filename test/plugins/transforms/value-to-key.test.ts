import { expect, it } from 'vitest'
import type { ConnectRecord, Schema } from '../../../src/sdk/index.ts'
import { transformNamed } from './transform-named.ts'

const NAME = 'org.apache.kafka.connect.transforms.ValueToKey'
const RECORD = { topic: 't', key: null, keySchema: null, headers: [], timestampMs: null }

/** The results are those of Kafka 4.4.0, which has the key first. */
it.each([
  ['V1', 'dotted'],
  ['v2', 'x'],
])('with field.syntax.version %s takes %s as the field a.b of an object', (version, found) => {
  const value = { id: 1, a: { b: 'x' }, 'a.b': 'dotted' }
  const transform = transformNamed(NAME, { fields: 'id,a.b', 'field.syntax.version': version })
  expect(transform({ ...RECORD, value, valueSchema: null })).toMatchObject({ key: { id: 1, 'a.b': found } })
})

it('with field.syntax.version V2 names a nested field of a struct by its path', () => {
  const inner: Schema = { type: 'struct', fields: [{ name: 'b', schema: { type: 'string' } }] }
  const valueSchema: Schema = {
    type: 'struct',
    fields: [
      { name: 'id', schema: { type: 'int32' } },
      { name: 'a', schema: inner },
    ],
  }
  const record: ConnectRecord = { ...RECORD, value: { id: 1, a: { b: 'x' } }, valueSchema }
  const keyed = transformNamed(NAME, { fields: 'id,a.b', 'field.syntax.version': 'V2' })(record)
  expect(keyed).toMatchObject({
    key: { id: 1, 'a.b': 'x' },
    keySchema: {
      type: 'struct',
      fields: [
        { name: 'id', schema: { type: 'int32' } },
        { name: 'a.b', schema: { type: 'string' } },
      ],
    },
  })
  expect(() => transformNamed(NAME, { fields: 'id,a.b' })(record)).toThrow('Field does not exist: a.b')
})
