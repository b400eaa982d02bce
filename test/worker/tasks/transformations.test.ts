import { describe, expect, it } from 'vitest'
import type { SourceRecord } from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { ErrorPolicy } from '../../../src/worker/tasks/error-policy.ts'
import { type FailedSourceRecord, processSourceRecords } from '../../../src/worker/tasks/process-source-records.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { openTestPipeline } from '../../support/record-pipeline.ts'

/** Applies the transformations of a connector's configuration to one record. Returns its topic; undefined if it was dropped. */
async function transform(config: Readonly<Record<string, string>>, record: Partial<SourceRecord> = {}) {
  const failures: FailedSourceRecord[] = []
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const signal = new AbortController().signal
  const { errors } = parseTaskConfig({ 'errors.tolerance': 'all' })
  const { records } = await processSourceRecords(
    [{ topic: 'orders', value: 'a', sourcePartition: {}, sourceOffset: {}, ...record }],
    {
      pipeline: await openTestPipeline('source', config),
      policy: new ErrorPolicy({ config: errors, counters: countersIn(), log, clock: new FakeClock(), signal }),
      recordBytesMax: 1_000_000,
      onFailedRecord: (failed) => failures.push(failed),
    },
  )
  return { topic: records[0]?.topic, failures }
}

const ROUTE = { type: 'RegexRouter', regex: '(.*)', replacement: 'x-$1' }
const DROP = { type: 'org.apache.kafka.connect.transforms.Filter' }

const settingsOf = (alias: string, settings: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(settings).map(([key, value]) => [`transforms.${alias}.${key}`, value]))

describe('the transformations of a pipeline', () => {
  it('are applied in the order of `transforms`', async () => {
    const both = { ...settingsOf('a', ROUTE), ...settingsOf('b', { ...ROUTE, replacement: 'y-$1' }) }
    expect((await transform({ transforms: 'a,b', ...both })).topic).toBe('y-x-orders')
    expect((await transform({ transforms: 'b, a', ...both })).topic).toBe('x-y-orders')
  })

  it('are applied only to records that match their predicate, or with negate only to the others', async () => {
    const dropTombstones = {
      transforms: 'drop',
      predicates: 'isTombstone',
      'predicates.isTombstone.type': 'RecordIsTombstone',
      ...settingsOf('drop', { ...DROP, predicate: 'isTombstone' }),
    }
    expect((await transform(dropTombstones)).topic).toBe('orders')
    expect((await transform(dropTombstones, { value: null })).topic).toBeUndefined()
    const dropOthers = { ...dropTombstones, 'transforms.drop.negate': 'TRUE' }
    expect((await transform(dropOthers)).topic).toBeUndefined()
    expect((await transform(dropOthers, { value: null })).topic).toBe('orders')
  })

  it('are not applied to a dropped record', async () => {
    const cast = settingsOf('cast', { type: 'Cast$Value', spec: 'int32' })
    const config = { transforms: 'drop,cast', ...settingsOf('drop', DROP), ...cast }
    expect(await transform(config, { value: 'x' })).toEqual({ topic: undefined, failures: [] })
  })

  it('are named when they throw', async () => {
    const cast = { transforms: 'route,cast', ...settingsOf('route', ROUTE) }
    const toInt = settingsOf('cast', { type: 'Cast$Value', spec: 'int32' })
    const { failures } = await transform({ ...cast, ...toInt }, { value: 'x' })
    expect(failures).toMatchObject([
      {
        stage: 'TRANSFORMATION',
        className: 'org.apache.kafka.connect.transforms.Cast$Value',
        error: { message: expect.stringContaining('Value (x)') },
      },
    ])
  })

  it('are rejected with a predicate that is not configured and a class that is not installed', async () => {
    const undefinedPredicate = { transforms: 'drop', ...settingsOf('drop', { ...DROP, predicate: 'p' }) }
    await expect(transform(undefinedPredicate)).rejects.toThrow("there is no predicate '' here")
    const unknownClass = { transforms: 'x', 'transforms.x.type': 'com.example.None' }
    await expect(transform(unknownClass)).rejects.toThrow("there is no transformation 'com.example.None' here")
  })

  it('are rejected with invalid settings and the message of the transformation', async () => {
    const invalid = { transforms: 'i', 'transforms.i.type': 'InsertField$Value' }
    await expect(transform(invalid)).rejects.toThrow('No field insertion configured')
  })
})
