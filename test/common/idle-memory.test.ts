import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { type HeapState, shouldCollect } from '../../src/common/idle-memory.ts'
import { entryPoint } from '../../src/common/program-files.ts'

const MB = 1024 * 1024
const IDLE: HeapState = {
  youngBytes: 3 * MB,
  heapBytes: 40 * MB,
  allocatedBytes: 40 * MB,
  keptBytes: 40 * MB,
  cpuUtilization: 0.01,
}

it.each([
  ['a large young generation', { youngBytes: 16 * MB }],
  ['garbage in its heap', { heapBytes: 65 * MB, allocatedBytes: 65 * MB }],
  ['garbage in its buffers', { allocatedBytes: 100 * MB }],
  ['a heap that was never collected', { keptBytes: 0 }],
])('an idle thread with %s is collected', (_name, state) => {
  expect(shouldCollect({ ...IDLE, ...state })).toBe(true)
})

it.each([
  ['is active', { cpuUtilization: 0.5, youngBytes: 16 * MB }],
  ['has little garbage', { allocatedBytes: 45 * MB }],
  ['has little garbage for its size', { heapBytes: 120 * MB, allocatedBytes: 120 * MB, keptBytes: 100 * MB }],
  ['has a large heap', { heapBytes: 500 * MB, allocatedBytes: 500 * MB }],
])('a thread that %s is not collected', (_name, state) => {
  expect(shouldCollect({ ...IDLE, ...state })).toBe(false)
})

it('the young generation of an idle thread is returned, and its code cannot collect garbage', async () => {
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

it('the garbage of an idle thread is collected with its buffers', async () => {
  const code = `
    const { parentPort } = require('node:worker_threads')
    import(${JSON.stringify(entryPoint('common/idle-memory').href)}).then(({ returnMemoryWhenIdle }) => {
      let kept = []
      for (let at = 0; at < 1_000; at++) kept.push(Buffer.alloc(64 * 1024))
      const grownMb = process.memoryUsage().arrayBuffers / ${MB}
      kept = []
      returnMemoryWhenIdle(50)
      setInterval(() => {
        if (process.memoryUsage().arrayBuffers < 8 * ${MB}) parentPort.postMessage(grownMb)
      }, 50)
    })`
  const thread = new Worker(code, { eval: true, resourceLimits: { maxYoungGenerationSizeMb: 1 } })
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  thread.once('message', resolve).once('error', reject)
  expect(await promise).toBeGreaterThan(60)
  await thread.terminate()
})
