import { AsyncLocalStorage } from 'node:async_hooks'
import type { SimulatedProcess } from './simulated-process.ts'

const running = new AsyncLocalStorage<SimulatedProcess>()

/** The simulated process on whose behalf the current code runs. Undefined for the code of the simulator. */
export function currentProcess(): SimulatedProcess | undefined {
  return running.getStore()
}

/** Runs a function on behalf of a process: its timers and calls are those of the process. */
export function runInProcess<T>(process: SimulatedProcess, run: () => T): T {
  return running.run(process, run)
}
