import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { type HeapState, shouldCollect } from '../../src/common/idle-memory.ts'
import { entryPoint } from '../../src/common/program-files.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

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

/** Runs code in a thread with `returnMemoryWhenIdle`, until it posts a message. */
async function messageOfThread(code: string, options: WorkerOptions = {}): Promise<unknown> {
  const program = `
    const { parentPort } = require('node:worker_threads')
    const { getHeapSpaceStatistics } = require('node:v8')
    const youngMb = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').physical_space_size / ${MB}
    const growYoung = () => {
      const kept = []
      for (let at = 0; at < 300_000; at++) kept.push({ at, text: 'value ' + at })
      return youngMb()
    }
    import(${JSON.stringify(entryPoint('common/idle-memory').href)}).then(({ returnMemoryWhenIdle }) => {
      ${code}
    })`
  const thread = new Worker(program, { ...options, eval: true })
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  thread.once('message', resolve).once('error', reject)
  try {
    return await promise
  } finally {
    await thread.terminate()
    // The thread may have set this option, which is one of the process.
    setFlagsFromString('--semi-space-growth-factor=2')
  }
}

it('the young generation of an idle thread is returned, and its code cannot collect garbage', {
  tags: ['slow'],
}, async () => {
  const message = await messageOfThread(`
    const grownMb = growYoung()
    returnMemoryWhenIdle(50)
    setInterval(() => {
      if (youngMb() < 4) parentPort.postMessage({ grownMb, gc: typeof globalThis.gc })
    }, 50)`)
  const { grownMb, gc } = message as { readonly grownMb: number; readonly gc: string }
  expect(grownMb).toBeGreaterThan(4)
  expect(gc).toBe('undefined')
})

it('the young generation of an idle thread grows again only when the thread is active', {
  tags: ['slow'],
}, async () => {
  const message = await messageOfThread(`
    growYoung()
    returnMemoryWhenIdle(50)
    const waiting = setInterval(() => {
      if (youngMb() >= 4) return
      clearInterval(waiting)
      // No check runs during this loop. The next one finds that the thread is active. Without growth, single collections of the whole
      // heap enlarge it, too, but not for long.
      const idleMb = Math.min(...Array.from({ length: 4 }, growYoung))
      let largeTimes = 0
      setInterval(() => {
        const activeMb = growYoung()
        largeTimes = activeMb > 4 ? largeTimes + 1 : 0
        if (largeTimes === 4) parentPort.postMessage({ idleMb, activeMb })
      }, 60)
    }, 50)`)
  const { idleMb, activeMb } = message as { readonly idleMb: number; readonly activeMb: number }
  expect(idleMb).toBeLessThan(4)
  expect(activeMb).toBeGreaterThan(4)
})

it('an idle thread writes the code that it has loaded to the compile cache before it collects its garbage', {
  tags: ['slow'],
}, async () => {
  const directory = temporaryDirectory()
  const module = join(directory, 'loaded.mjs')
  writeFileSync(module, 'export const loaded = true')
  const cache = join(directory, 'cache')
  const code = `
    const cachedFiles = () => require('node:fs').globSync('*/*', { cwd: ${JSON.stringify(cache)} }).length
    require('node:module').enableCompileCache(${JSON.stringify(cache)})
    growYoung()
    returnMemoryWhenIdle(50)
    import(${JSON.stringify(pathToFileURL(module).href)}).then(() => {
      const before = cachedFiles()
      setInterval(() => {
        if (youngMb() < 4) parentPort.postMessage({ before, after: cachedFiles() })
      }, 50)
    })`
  // The threads of this process have another cache.
  expect(await messageOfThread(code, { env: {} })).toEqual({ before: 0, after: 1 })
})

it('the garbage of an idle thread is collected with its buffers', { tags: ['slow'] }, async () => {
  const code = `
    let kept = []
    for (let at = 0; at < 1_000; at++) kept.push(Buffer.alloc(64 * 1024))
    const grownMb = process.memoryUsage().arrayBuffers / ${MB}
    kept = []
    returnMemoryWhenIdle(50)
    setInterval(() => {
      if (process.memoryUsage().arrayBuffers < 8 * ${MB}) parentPort.postMessage(grownMb)
    }, 50)`
  expect(await messageOfThread(code, { resourceLimits: { maxYoungGenerationSizeMb: 1 } })).toBeGreaterThan(60)
})
