import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { datagen } from '../../../src/plugins/connectors/datagen/datagen-source.ts'
import { QUICKSTART_NAMES, quickstart } from '../../../src/plugins/connectors/datagen/quickstarts/quickstarts.ts'
import { checkValue, runSource, type SourceRecord, UNRESTRICTED } from '../../../src/sdk/index.ts'

const generate = (config: Record<string, string>, more: object = {}) =>
  runSource(datagen, { config: { 'kafka.topic': 'orders', 'max.interval': '0', ...config }, ...more })

async function records(count: number, config: Record<string, string> = {}, more: object = {}) {
  const run = generate(config, more)
  const taken = await run.take(count)
  await run.stop()
  return taken
}

const values = (taken: readonly SourceRecord[]) => taken.map(({ value }) => value)

describe('Datagen', () => {
  it.each(QUICKSTART_NAMES)(
    'generates valid records of the quickstart %s with a key',
    { tags: ['slow'] },
    async (name) => {
      const { keyField } = quickstart(name)
      const generated = await records(300, { quickstart: name })
      for (const { key, keySchema, value, valueSchema } of generated) {
        checkValue(keySchema!, key)
        checkValue(valueSchema!, value)
        expect(key).toBe((value as Record<string, unknown>)[keyField])
      }
      expect(new Set(generated.map(({ value }) => inspect(value))).size).toBeGreaterThan(1)
    },
  )

  it('generates the same records for the same seed and task, and other records otherwise', async () => {
    const first = values(await records(100))
    expect(values(await records(100))).toEqual(first)
    expect(values(await records(100, { 'random.seed': '7' }))).not.toEqual(first)
    expect(values(await records(100, {}, { task: 1 }))).not.toEqual(first)
  })

  it('continues after the stored offset', async () => {
    const all = await records(50)
    const { sourcePartition, sourceOffset } = all[19]!
    const offsets = [{ partition: sourcePartition, offset: sourceOffset }]
    expect(await records(30, {}, { offsets })).toEqual(all.slice(20))
  })

  it('ends after the configured number of iterations, including those before a restart', async () => {
    const offsets = [{ partition: { 'task.id': 0 }, offset: { 'current.iteration': 7 } }]
    const run = generate({ iterations: '10' }, { offsets })
    expect(await run.take(3)).toHaveLength(3)
    await expect(run.nextBatch()).rejects.toThrow('the source ended')
  })

  it('uses one schema object for all records, so that converters can cache it', async () => {
    expect(new Set((await records(10)).map(({ valueSchema }) => valueSchema)).size).toBe(1)
  })

  it('generates records at the configured rate', async () => {
    const run = generate({ rate: '200' })
    const startedMs = performance.now()
    const taken = await run.take(21)
    const tookMs = performance.now() - startedMs
    await run.stop()
    expect(taken).toHaveLength(21)
    // The first comes at once, so 20 pauses of 5 ms; how much longer it takes is the machine's affair.
    expect(tookMs).toBeGreaterThanOrEqual(99)
  })

  it('uses all tasks of tasks.max, and rejects altered offsets that are not a count', () => {
    expect(datagen.tasks?.({} as never, 3, { a: 'b' }, UNRESTRICTED)).toEqual([{ a: 'b' }, { a: 'b' }, { a: 'b' }])
    const alter = (iteration: unknown) =>
      datagen.alterOffsets?.({} as never, [
        { partition: { 'task.id': 0 }, offset: { 'current.iteration': iteration as never } },
      ])
    expect(alter(5)).toBeUndefined()
    expect(() => alter(-1)).toThrow('non-negative integer')
  })
})
