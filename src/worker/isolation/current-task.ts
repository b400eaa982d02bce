import { AsyncLocalStorage } from 'node:async_hooks'

/** On whose behalf this thread works right now, by task key. */
const CURRENT = new AsyncLocalStorage<string>()

/** Read from outside the thread, when it does not answer any more. */
export const CURRENT_TASK_SYMBOL = 'weir.task.current'
Reflect.set(globalThis, Symbol.for(CURRENT_TASK_SYMBOL), CURRENT)

/** Undefined: the thread works for no task. */
export function currentTask(): string | undefined {
  return CURRENT.getStore()
}

export function runAsTask<T>(key: string, work: () => T): T {
  return CURRENT.run(key, work)
}
