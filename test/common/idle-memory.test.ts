import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { type HeapState, shouldCollect } from '../../src/common/idle-memory.ts'
import { entryPoint } from '../../src/common/program-files.ts'

const MB = 1024 * 1024
const IDLE: HeapState = { youngBytes: 16 * MB, heapBytes: 40 * MB, utilization: 0.01 }

it('an idle thread with a large young generation is collected', () => {
  expect(shouldCollect(IDLE)).toBe(true)
})

it.each([
  ['is active', { utilization: 0.5 }],
  ['has a small young generation', { youngBytes: 3 * MB }],
  ['has a large heap', { heapBytes: 500 * MB }],
])('a thread that %s is not collected', (_name, state) => {
  expect(shouldCollect({ ...IDLE, ...state })).toBe(false)
})

it('the memory of an idle thread is returned, and its code cannot collect garbage', async () => {
  const code = `
    const { parentPort } = require('node:worker_threads')
    const { getHeapSpaceStatistics } = require('node:v8')
    const youngMb = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').physical_space_size / ${MB}
    import(${JSON.stringify(entryPoint('common/idle-memory').href)}).then(({ returnMemoryWhenIdle }) => {
      let kept = []
      for (let at = 0; at < 300_000; at++) kept.push({ at, text: 'value ' + at })
      kept = []
      const grownMb = youngMb()
      returnMemoryWhenIdle(50)
      setInterval(() => {
        if (youngMb() < 4) parentPort.postMessage({ grownMb, gc: typeof globalThis.gc })
      }, 50)
    })`
  const thread = new Worker(code, { eval: true })
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  thread.once('message', resolve).once('error', reject)
  const { grownMb, gc } = (await promise) as { readonly grownMb: number; readonly gc: string }
  await thread.terminate()
  expect(grownMb).toBeGreaterThan(4)
  expect(gc).toBe('undefined')
})
