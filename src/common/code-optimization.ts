import { setFlagsFromString } from 'node:v8'

const CHECK_INTERVAL_MS = 250
/** A process that uses less CPU time, as a part of the elapsed time, is idle. */
const IDLE_CPU_UTILIZATION = 0.1
/**
 * CPU time in ms above that of an idle process, after which a process is under load. The start of a program takes 300 ms, that of
 * a task process with 50 tasks 700 ms.
 */
const CPU_MS_MAX = 1_000
/** Units of work within a second, after which a process is under load: records, or `REQUEST_WORK` for a request. */
const WORK_MAX = 2_000
const WORK_WINDOW_MS = 1_000

/** The work of an HTTP request, compared with that of a record. */
export const REQUEST_WORK = 20

/** The options of V8 that `postponeOptimization` sets. A child process has them from its start, when it loads its first modules. */
export const POSTPONED_OPTIMIZATION = ['--no-maglev', '--no-opt'] as const

/**
 * Postpones the optimizing compilers of V8 until this process is under load. In an idle process they cost 20 MB: the pages of
 * their code, the optimized code, and the memory that they need to compile.
 *
 * Maglev stays off for good: it cannot be used in a thread that was started without it.
 */
export function postponeOptimization(): void {
  for (const option of POSTPONED_OPTIMIZATION) setFlagsFromString(option)
  const meter = new CpuLoadMeter()
  let lastMs = performance.now()
  let last = process.cpuUsage()
  const check = setInterval(() => {
    const nowMs = performance.now()
    const { user, system } = process.cpuUsage(last)
    if (meter.isUnderLoad((user + system) / 1_000, nowMs - lastMs)) optimizeCode()
    lastMs = nowMs
    last = process.cpuUsage()
    if (isOptimizing) clearInterval(check)
  }, CHECK_INTERVAL_MS).unref()
}

/** Decides from CPU times whether a process is under load. */
export class CpuLoadMeter {
  #excessMs = 0

  /** Call this at intervals, with the CPU time and the elapsed time since the last call, in ms. */
  isUnderLoad(cpuMs: number, elapsedMs: number): boolean {
    this.#excessMs = Math.max(0, this.#excessMs + cpuMs - IDLE_CPU_UTILIZATION * elapsedMs)
    return this.#excessMs > CPU_MS_MAX
  }
}

/** Size of a small record, by which the work of bytes is estimated. */
const RECORD_BYTES = 100

let isOptimizing = false
let windowStartMs = 0
let work = 0

/**
 * Reports work of this thread. A rate that slower code would limit is noticed here before it is noticed by its CPU time, so that
 * no request or record waits for it.
 */
export function countWork(units: number): void {
  if (isOptimizing) return
  const nowMs = performance.now()
  if (nowMs - windowStartMs > WORK_WINDOW_MS) {
    windowStartMs = nowMs
    work = 0
  }
  work += units
  if (work > WORK_MAX) optimizeCode()
}

/**
 * Reports bytes that this thread processes, such as a request body: one that is large would block the thread for much longer
 * with slower code.
 */
export function countBytes(bytes: number): void {
  countWork(bytes / RECORD_BYTES)
}

/** Lets V8 optimize the code of all threads of this process. */
function optimizeCode(): void {
  isOptimizing = true
  setFlagsFromString('--opt')
}
