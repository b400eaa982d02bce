import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { entryPoint } from '../../src/common/program-files.ts'
import { run } from '../env/process.ts'

describe('the code of a process', () => {
  /** Each line is whether V8 has optimized a function of the main thread and one of another thread, at one time. */
  const optimized = async (work: string, rounds: number): Promise<readonly string[]> => {
    const code = `
      const { Worker, isMainThread, parentPort } = require('node:worker_threads')
      const OPTIMIZED = 1 << 4
      const add = (a, b) => a + b
      const isOptimized = () => {
        for (let at = 0; at < 100_000; at++) add(at, 1)
        return (%GetOptimizationStatus(add) & OPTIMIZED) !== 0
      }
      parentPort?.on('message', () => parentPort.postMessage(isOptimized()))
      if (isMainThread) import(${JSON.stringify(entryPoint('common/code-optimization').href)}).then(async (module) => {
        const { postponeOptimization, countBytes, countWork, REQUEST_WORK } = module
        postponeOptimization()
        const { once } = require('node:events')
        const thread = new Worker(process.execArgv.at(-1), { eval: true, execArgv: [] })
        const both = async () => {
          thread.postMessage('')
          const [other] = await once(thread, 'message')
          return [isOptimized(), other]
        }
        console.log(String(await both()))
        ${work}
        for (let at = 0; at < ${rounds}; at++) {
          const all = await both()
          if (all.every(Boolean)) break
        }
        console.log(String(await both()))
        await thread.terminate()
        process.exit()
      })`
    const { stdout, stderr } = await run({
      file: process.execPath,
      args: ['--allow-natives-syntax', '--eval', code],
      directory: fileURLToPath(new URL('.', import.meta.url)),
    })
    expect(stderr).toBe('')
    return stdout.trim().split('\n')
  }

  it('is not optimized while a process has little work', async () => {
    expect(await optimized('countWork(100)', 1)).toEqual(['false,false', 'false,false'])
  })

  it.each([
    ['requests', 'for (let at = 0; at < 101; at++) countWork(REQUEST_WORK)'],
    ['a large request body', 'countBytes(64_000); countBytes(150_000)'],
  ])('is optimized in all threads under the load of %s', async (_name, work) => {
    // These rounds take less than the second of CPU time that would also count as load.
    expect(await optimized(work, 60)).toEqual(['false,false', 'true,true'])
  })
})
