import { describe, expect, it } from 'vitest'
import type { ConnectRecord } from '../../../src/sdk/index.ts'
import type { ProcessingContext } from '../../../src/worker/tasks/processing-context.ts'
import { applyTransformations, createTransformationChain } from '../../../src/worker/tasks/transformation-chain.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'

/** Applies the transformations of a connector's configuration to one record. */
function transform(
  config: Readonly<Record<string, string>>,
  record: Partial<ConnectRecord> = {},
  context: ProcessingContext = { stage: 'TASK_POLL', className: '' },
): ConnectRecord | null {
  const input: ConnectRecord = {
    topic: 'orders',
    key: null,
    keySchema: null,
    value: { id: 1 },
    valueSchema: null,
    headers: [],
    timestampMs: null,
    ...record,
  }
  return applyTransformations(createTransformationChain(shippedCatalog(), config), input, context)
}

const ROUTE = { type: 'RegexRouter', regex: '(.*)', replacement: 'x-$1' }
const DROP = { type: 'org.apache.kafka.connect.transforms.Filter' }

const settingsOf = (alias: string, settings: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [`transforms.${alias}.${key}`, value]))

describe('the transformation chain', () => {
  it('applies transformations in the order of `transforms`', () => {
    const both = { ...settingsOf('a', ROUTE), ...settingsOf('b', { ...ROUTE, replacement: 'y-$1' }) }
    expect(transform({ transforms: 'a,b', ...both })?.topic).toBe('y-x-orders')
    expect(transform({ transforms: 'b, a', ...both })?.topic).toBe('x-y-orders')
  })

  it('applies a transformation only to records that match its predicate, or with negate only to the others', () => {
    const dropTombstones = {
      transforms: 'drop',
      predicates: 'isTombstone',
      'predicates.isTombstone.type': 'RecordIsTombstone',
      ...settingsOf('drop', { ...DROP, predicate: 'isTombstone' }),
    }
    expect(transform(dropTombstones)).not.toBeNull()
    expect(transform(dropTombstones, { value: null })).toBeNull()
    const dropOthers = { ...dropTombstones, 'transforms.drop.negate': 'TRUE' }
    expect(transform(dropOthers)).toBeNull()
    expect(transform(dropOthers, { value: null })).not.toBeNull()
  })

  it('applies no further transformation to a dropped record', () => {
    const config = { transforms: 'drop,route', ...settingsOf('drop', DROP), ...settingsOf('route', ROUTE) }
    const context: ProcessingContext = { stage: 'TASK_POLL', className: '' }
    expect(transform(config, {}, context)).toBeNull()
    expect(context).toEqual({ stage: 'TRANSFORMATION', className: DROP.type })
  })

  it('names the transformation that throws', () => {
    const cast = { transforms: 'route,cast', ...settingsOf('route', ROUTE) }
    const context: ProcessingContext = { stage: 'TASK_POLL', className: '' }
    const toInt = settingsOf('cast', { type: 'Cast$Value', spec: 'int32' })
    expect(() => transform({ ...cast, ...toInt }, { value: 'x' }, context)).toThrow('Value (x)')
    expect(context).toEqual({
      stage: 'TRANSFORMATION',
      className: 'org.apache.kafka.connect.transforms.Cast$Value',
    })
  })

  it('rejects a predicate that is not configured and a class that is not installed', () => {
    const undefinedPredicate = { transforms: 'drop', ...settingsOf('drop', { ...DROP, predicate: 'p' }) }
    expect(() => transform(undefinedPredicate)).toThrow("there is no predicate '' here")
    const unknownClass = { transforms: 'x', 'transforms.x.type': 'com.example.None' }
    expect(() => transform(unknownClass)).toThrow("there is no transformation 'com.example.None' here")
  })

  it('rejects invalid settings of a transformation with the message of the transformation', () => {
    expect(() => transform({ transforms: 'i', 'transforms.i.type': 'InsertField$Value' })).toThrow(
      'No field insertion configured',
    )
  })
})
