import { setTimeout as sleep } from 'node:timers/promises'
import { defineSink, defineSource, type Plugin, STRING, z } from '../../../src/sdk/index.ts'

// Plugins of a worker, each with one of the faults that people look for in the console.

function source(name: string, misbehave: () => unknown, tasks = 1): Plugin {
  return defineSource({
    class: name,
    version: '1.0.0',
    summary: name,
    config: z.object({ topic: z.string() }),
    tasks: (_own, _tasksMax, raw) => Array.from({ length: tasks }, () => raw),
    async *poll({ config: { topic }, signal }) {
      yield [{ topic, value: 'v', valueSchema: STRING, sourcePartition: {}, sourceOffset: {} }]
      await misbehave()
      while (!signal.aborted) await sleep(100, undefined, { signal }).catch(() => undefined)
    },
  })
}

function spin(): never {
  for (;;) {}
}

const hoard: unknown[] = []
const held: Buffer[] = []
/** Two of them are more than half of the memory limit of a process in `process-symptoms.test.ts`, and one is less. */
const HELD_BYTES = 52 * 1024 * 1024

export const plugins: readonly Plugin[] = [
  source('Steady', () => undefined),
  source('Thrower', () => {
    throw new Error('the table orders does not exist')
  }),
  source('Spinner', spin),
  source('Hoarder', async () => {
    for (;;) {
      hoard.push(Array.from({ length: 10_000 }, () => ({ held: Math.random() })))
      await sleep(1)
    }
  }),
  source('Holder', () => void held.push(Buffer.alloc(HELD_BYTES, 1)), 2),
  source('Chatter', () => {
    for (let line = 0; line < 1_000; line++) console.log(`line ${line}`)
  }),
  defineSink({
    class: 'NeverStarts',
    version: '1.0.0',
    summary: 'Waits for ever.',
    config: z.object({}),
    start: () => new Promise<never>(() => undefined),
  }),
  defineSink({
    class: 'Slow',
    version: '1.0.0',
    summary: 'Takes a second for each batch.',
    config: z.object({}),
    start: () => ({ put: () => sleep(1_000) }),
  }),
  defineSource({
    class: 'NeverValidates',
    version: '1.0.0',
    summary: 'Its validation computes for ever.',
    config: z.object({ topic: z.string().refine(spin) }),
    async *poll() {},
  }),
]
