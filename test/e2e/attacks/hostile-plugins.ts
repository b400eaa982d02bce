import { pbkdf2Sync } from 'node:crypto'
import { openSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineSource, type Plugin, STRING, type TaskLog, z } from '../../../src/sdk/index.ts'

// Sources for `task-threads.test.ts` that do what no plugin should. Each writes three records first.

const config = z.object({ topic: z.string(), fifo: z.string().default('') })
type Moment = { readonly log: TaskLog; readonly fifo: string }

function source(name: string, misbehave: (moment: Moment) => unknown): Plugin {
  return defineSource({
    class: name,
    version: '1.0.0',
    summary: name,
    config,
    async *poll({ config: { topic, fifo }, signal, log }) {
      for (let count = 1; !signal.aborted; count++) {
        const position = { sourcePartition: {}, sourceOffset: { count } }
        yield [{ topic, value: String(count), valueSchema: STRING, ...position }]
        await sleep(10, undefined, { signal }).catch(() => undefined)
        if (count !== 3) continue
        log.info({}, 'misbehaving')
        await misbehave({ log, fifo })
      }
    },
  })
}

/** Works without pause, but lets the event loop of its thread run. */
async function forEver(work: () => unknown, timesATurn = 1_000): Promise<never> {
  for (;;) {
    for (let count = 0; count < timesATurn; count++) work()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Node.js provides it, but its types do not declare it. */
const { Memory } = Reflect.get(globalThis, 'WebAssembly') as {
  Memory: new (limits: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
}
const held: unknown[] = []
const MB = 1024 * 1024

/** 200 MB per second: slow enough for the memory to be measured while it fills, also on a busy machine. */
async function hoard(take: () => unknown): Promise<never> {
  for (;;) {
    held.push(take())
    await sleep(20)
  }
}

export const plugins: readonly Plugin[] = [
  source('Steady', () => undefined),

  source('LogFlood', ({ log }) => forEver(() => log.info({ field: 'f'.repeat(100) }, 'a line'))),
  source('ConsoleFlood', () =>
    forEver(() => {
      console.log('a line of the console')
      process.stdout.write('a line of standard output\n')
      process.stderr.write('a line of standard error\n')
      process.emitWarning('a warning')
    }),
  ),
  source('LongLines', ({ log }) => forEver(() => log.warn({}, 'x'.repeat(100_000)), 10)),

  source('Buffers', () => hoard(() => Buffer.alloc(4 * MB, 1))),
  source('SharedBuffers', () => hoard(() => new Uint8Array(new SharedArrayBuffer(4 * MB)).fill(1))),
  source('WebAssemblyMemory', () => hoard(() => new Uint8Array(new Memory({ initial: 64 }).buffer).fill(1))),
  // V8 can't end this loop, and its heap ends the process.
  source('Heap', () => {
    for (let at = 0; ; at++) held[at] = new Array(100).fill(at)
  }),

  source('Exit', () => process.exit(3)),
  source('Abort', () => process.abort()),

  source('ArrayMap', () => {
    Array.prototype.map = () => {
      throw new Error('no map')
    }
  }),
  source('NoPromise', () => Reflect.set(globalThis, 'Promise', undefined)),
  source('JsonStringify', () => {
    JSON.stringify = () => 'nothing'
  }),
  source('MapGet', () => {
    Map.prototype.get = () => undefined
  }),
  source('ThenOfAllObjects', () => Reflect.set(Object.prototype, 'then', () => undefined)),

  // V8 interrupts no loop that calls only functions of its own.
  source('Loop', () => {
    for (;;) Reflect.set(held, 'array', new Array(100).fill({}))
  }),
  source('Native', () => pbkdf2Sync('a', 'b', 2 ** 31 - 1, 64, 'sha512')),
  source('Fifo', ({ fifo }) => readSync(openSync(fifo, 'r'), Buffer.alloc(1))),
  source('NeverStops', () => hoard(() => Buffer.alloc(64 * 1024, 1))),
]
