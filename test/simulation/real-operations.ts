import { AsyncResource, createHook } from 'node:async_hooks'
import { currentProcess } from './current-process.ts'

/** Promises and what runs before the next event, and the timer of Node with which its HTTP server caches the header `date`. */
const HARMLESS: ReadonlySet<string> = new Set(['PROMISE', 'TickObject', 'Microtask', 'Timeout'])

/** Runs a history, and lists the files, sockets and threads of this machine that the simulated processes used. */
export async function recordRealOperations<Result>(
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly operations: readonly string[] }> {
  const operations = new Set<string>()
  const hook = createHook({
    init(_, type, __, resource) {
      const isHarmless = HARMLESS.has(type) || resource instanceof AsyncResource
      if (!isHarmless && currentProcess() !== undefined) operations.add(type)
    },
  }).enable()
  try {
    return { result: await run(), operations: [...operations].toSorted() }
  } finally {
    hook.disable()
  }
}
