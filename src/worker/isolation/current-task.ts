import { AsyncLocalStorage } from 'node:async_hooks'

/** The key of the task, or the ID of the call, on whose behalf this process is running. */
const CURRENT = new AsyncLocalStorage<string>()

/** Undefined when the current code belongs to no task. */
export function currentTask(): string | undefined {
  return CURRENT.getStore()
}

export function runAsTask<T>(key: string, work: () => T): T {
  return CURRENT.run(key, work)
}
