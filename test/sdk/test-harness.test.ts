import { describe, expect, it } from 'vitest'
import { defineSink, defineSource, field, referencePage, runSink, runSource, z } from '../../src/sdk/index.ts'

// The plugins that a newcomer would write, run as a newcomer would test them.

const counter = defineSource({
  class: 'Counter',
  version: '1.0.0',
  summary: 'Counts.',
  config: z.object({
    topic: field.text({ doc: 'Where to', importance: 'HIGH' }),
    'batch.size': field.int({ doc: 'How many at once.', min: 1 }).default(2),
  }),
  async *poll({ config, signal, resumeFrom }) {
    const sourcePartition = { counter: 'main' }
    let count = Number(resumeFrom(sourcePartition)?.['count'] ?? 0)
    while (!signal.aborted) {
      yield Array.from({ length: config['batch.size'] }, () => {
        count += 1
        return { topic: config.topic, value: count, sourcePartition, sourceOffset: { count } }
      })
    }
  },
})

describe('runSource', () => {
  it('returns the requested number of records and keeps the rest of the batch', async () => {
    const run = runSource(counter, { config: { topic: 't' } })
    expect((await run.take(3)).map(({ value }) => value)).toEqual([1, 2, 3])
    expect((await run.take(1)).map(({ value }) => value)).toEqual([4])
    await run.stop()
  })

  it('starts at the stored offsets', async () => {
    const offsets = [{ partition: { counter: 'main' }, offset: { count: 40 } }]
    const run = runSource(counter, { config: { topic: 't' }, offsets })
    expect((await run.take(1))[0]).toMatchObject({ value: 41, sourceOffset: { count: 41 } })
    await run.stop()
  })

  it('throws for an invalid configuration and when the source has ended', async () => {
    expect(() => runSource(counter, { config: { topic: 't', 'batch.size': '0' } })).toThrow('must be at least 1')
    const short = { ...counter, poll: async function* () {} }
    await expect(runSource(short, { config: { topic: 't' } }).take(1)).rejects.toThrow('the source ended')
  })
})

const collected: unknown[] = []
const collector = defineSink({
  class: 'Collector',
  version: '1.0.0',
  summary: 'Collects.',
  config: z.object({}),
  start: ({ reject }) => ({
    put: async (records) => {
      for (const record of records) {
        if (record.value === 'bad') await reject(record, new Error('bad'))
        else collected.push([record.topic, record.partition, record.offset, record.value])
      }
    },
  }),
})

describe('runSink', () => {
  it('assigns offsets, puts records and returns the rejected ones', async () => {
    const run = await runSink(collector, { config: {} })
    await run.put([
      { topic: 'a', value: 1 },
      { topic: 'a', value: 'bad' },
      { topic: 'a', partition: 1, value: 2 },
    ])
    await run.put([{ topic: 'a', value: 3 }])
    expect(collected).toEqual([
      ['a', 0, 0, 1],
      ['a', 1, 0, 2],
      ['a', 0, 2, 3],
    ])
    expect(run.rejected.map(({ record }) => record.offset)).toEqual([1])
    expect(await run.flush()).toEqual([
      { topic: 'a', partition: 0, offset: 3 },
      { topic: 'a', partition: 1, offset: 1 },
    ])
    await run.stop()
  })
})

describe('referencePage', () => {
  it('contains names, keys and defaults', () => {
    expect(referencePage(counter)).toBe(
      `${[
        '# Counter',
        'Counts.',
        'Type: source connector. Class names: `Counter`.',
        '## Configuration',
        '| Key | Type | Default | Importance | Description |\n| --- | --- | --- | --- | --- |\n' +
          '| `topic` | string | required | high | Where to. |\n' +
          '| `batch.size` | int | `2` | medium | How many at once. |',
      ].join('\n\n')}\n`,
    )
  })
})
