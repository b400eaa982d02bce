import { setTimeout as sleep } from 'node:timers/promises'
import { defineSink, defineSource, type Plugin, STRING, z } from '../../src/sdk/index.ts'

// Source connectors that misbehave, for tests that run them in threads.

const config = z.object({ topic: z.string() })

/** Produces a record at intervals; after the third record it calls `misbehave`. */
function source(name: string, misbehave: () => unknown): Plugin {
  return defineSource({
    class: name,
    version: '1',
    summary: name,
    config,
    async *poll({ config: { topic }, signal }) {
      for (let count = 1; !signal.aborted; count++) {
        const position = { sourcePartition: {}, sourceOffset: { count } }
        yield [{ topic, value: String(count), valueSchema: STRING, ...position }]
        await sleep(10, undefined, { signal }).catch(() => undefined)
        if (count === 3) await misbehave()
      }
    },
  })
}

function spinForEver(): never {
  for (;;) {}
}

const hoard: unknown[] = []
const held: Buffer[] = []
/** Two of them are more than half of the memory limit of a process in `worker-threads.test.ts`, and one is less. */
const HELD_BYTES = 52 * 1024 * 1024

export const plugins: readonly Plugin[] = [
  source('Steady', () => undefined),
  source('Holder', () => void held.push(Buffer.alloc(HELD_BYTES, 1))),
  source('Spinner', spinForEver),
  source('Sleeper', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)),
  source('Exiter', () => process.exit(3)),
  source('Thrower', () => setTimeout(() => Promise.reject(new Error('out of band')), 1)),
  defineSink({
    class: 'NeverStarts',
    version: '1',
    summary: 'Waits for ever.',
    config: z.object({}),
    start: () => new Promise<never>(() => undefined),
  }),
  source('Hoarder', async () => {
    for (;;) {
      hoard.push(Array.from({ length: 10_000 }, () => ({ held: Math.random() })))
      await sleep(1)
    }
  }),
]
