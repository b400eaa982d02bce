import { describe, expect, it } from 'vitest'
import { shippedCatalog } from '../../../src/plugins/shipped.ts'
import type { ConnectRecord } from '../../../src/sdk/index.ts'
import { UNRESTRICTED } from '../../../src/sdk/index.ts'
import { createRecordPipeline } from '../../../src/worker/tasks/record-pipeline.ts'

const STRINGS = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}

function run(config: Readonly<Record<string, string>>, record: Partial<ConnectRecord> = {}): ConnectRecord | null {
  const { transforms } = createRecordPipeline(shippedCatalog(), config, STRINGS, UNRESTRICTED)
  const whole: ConnectRecord = {
    topic: 'orders',
    key: null,
    keySchema: null,
    value: { id: 1 },
    valueSchema: null,
    headers: [],
    timestampMs: null,
    ...record,
  }
  return transforms.reduce<ConnectRecord | null>((current, { run: step }) => current && step(current), whole)
}

const ROUTE = { type: 'RegexRouter', regex: '(.*)', replacement: 'x-$1' }
const DROP = { type: 'org.apache.kafka.connect.transforms.Filter' }

const transform = (alias: string, settings: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [`transforms.${alias}.${key}`, value]))

describe('the transforms of a connector', () => {
  it('are applied in the order of their aliases', () => {
    const twice = { ...transform('a', ROUTE), ...transform('b', { ...ROUTE, replacement: 'y-$1' }) }
    expect(run({ transforms: 'a,b', ...twice })?.topic).toBe('y-x-orders')
    expect(run({ transforms: 'b, a', ...twice })?.topic).toBe('x-y-orders')
  })

  it('are applied where their predicate is true, or where it is not', () => {
    const onTombstones = {
      transforms: 'drop',
      predicates: 'gone',
      'predicates.gone.type': 'RecordIsTombstone',
      ...transform('drop', { ...DROP, predicate: 'gone' }),
    }
    expect(run(onTombstones)).not.toBeNull()
    expect(run(onTombstones, { value: null })).toBeNull()
    const negated = { ...onTombstones, 'transforms.drop.negate': 'TRUE' }
    expect(run(negated)).toBeNull()
    expect(run(negated, { value: null })).not.toBeNull()
  })

  it('refuse a predicate that is nowhere defined, and a class that is not here', () => {
    const undefinedPredicate = { transforms: 'drop', ...transform('drop', { ...DROP, predicate: 'p' }) }
    expect(() => run(undefinedPredicate)).toThrow("there is no predicate '' here")
    const unknown = { transforms: 'x', 'transforms.x.type': 'com.example.None' }
    expect(() => run(unknown)).toThrow("there is no transformation 'com.example.None' here")
  })

  it('say what is wrong with their own settings', () => {
    expect(() => run({ transforms: 'i', 'transforms.i.type': 'InsertField$Value' })).toThrow(
      'No field insertion configured',
    )
  })
})
