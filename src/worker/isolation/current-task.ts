import { AsyncLocalStorage } from 'node:async_hooks'

/** The key of the task on whose behalf this thread is running. */
const CURRENT = new AsyncLocalStorage<string>()

/** Read through the debugger when the thread is blocked. */
export const CURRENT_TASK_SYMBOL = 'weir.task.current'
Reflect.set(globalThis, Symbol.for(CURRENT_TASK_SYMBOL), CURRENT)

/** Undefined when the current code belongs to no task. */
export function currentTask(): string | undefined {
  return CURRENT.getStore()
}

export function runAsTask<T>(key: string, work: () => T): T {
  return CURRENT.run(key, work)
}
