import { readdirSync, readFileSync } from 'node:fs'

/** The kernel reports CPU times in ticks of 10 ms, on all architectures. */
const MS_PER_TICK = 10

export type MainThread = {
  /** The state of the thread as the kernel names it: `R` runs or is ready to run, `S` waits, `D` waits for a disk. */
  readonly state: string
  /** CPU time since its start. */
  readonly cpuMs: number
}

/** Returns undefined where there is no `/proc`, and when the process has exited. */
export function readMainThread(pid: number): MainThread | undefined {
  return readThread(pid, pid)
}

/** The CPU time of all threads of a process, which waits when none of them is busy. Undefined as for `readMainThread`. */
function readAllThreads(pid: number): MainThread | undefined {
  const all = parseStat(read(`/proc/${pid}/stat`))
  return all && { ...all, state: all.state === 'T' ? 'T' : 'S' }
}

/** Whether a thread of the process runs, is ready to run, or waits for a disk. The main thread may wait for it. */
export function hasBusyThread(pid: number): boolean {
  return threadsOf(pid).some((thread) => ['R', 'D'].includes(readThread(pid, thread)?.state ?? ''))
}

function threadsOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return []
  }
}

function readThread(pid: number, thread: number): MainThread | undefined {
  return parseStat(read(`/proc/${pid}/task/${thread}/stat`))
}

function parseStat(text: string): MainThread | undefined {
  // The second field is a name in parentheses, which may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 13) return undefined
  return { state: fields[0] ?? '', cpuMs: (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK }
}

/** What the main thread does at the moment, as the end of a sentence. */
export function readActivity(pid: number): string {
  if (readMainThread(pid)?.state !== 'S') return 'computed in native code'
  const where = read(`/proc/${pid}/wchan`)
  return `waited in native code${/^\w{2,}$/.test(where) ? ` (${where})` : ''}`
}

/** Returns undefined where there is no `/proc`, and when the process has exited. */
export function readResidentBytes(pid: number): number | undefined {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1]
  return kb === undefined ? undefined : Number(kb) * 1_024
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * Measures the time that the main thread of a process, or all its threads had: its CPU time, and the time in which it waited while no thread of the
 * process had work. The time in which a busy machine ran others does not count. Without `/proc`, all time counts.
 */
export class OwnTime {
  readonly #isBusy: () => boolean
  readonly #read: () => MainThread | undefined
  readonly #monotonicMs: () => number
  readonly #stepMsMax: number
  #last: MainThread | undefined
  #lastMs: number

  /** A step counts `stepMsMax` at most: after more, this process itself was not run. */
  constructor(read: () => MainThread | undefined, isBusy: () => boolean, monotonicMs: () => number, stepMsMax: number) {
    this.#read = read
    this.#isBusy = isBusy
    this.#monotonicMs = monotonicMs
    this.#stepMsMax = stepMsMax
    this.#last = read()
    this.#lastMs = monotonicMs()
  }

  /** Returns the time since the last call, in ms. */
  step(): number {
    const nowMs = this.#monotonicMs()
    const elapsedMs = Math.min(nowMs - this.#lastMs, this.#stepMsMax)
    const now = this.#read()
    const cpuMs = now === undefined ? elapsedMs : now.cpuMs - (this.#last?.cpuMs ?? 0)
    this.#lastMs = nowMs
    this.#last = now
    return now?.state === 'S' && !this.#isBusy() ? elapsedMs : cpuMs
  }
}

const CHECK_INTERVAL_MS = 100

/**
 * Calls `onExceeded` once, when all threads of a process together had more than `limitMs` of time of their own. Returns a
 * function that ends the limit.
 */
export function limitOwnTime(pid: number, limitMs: number, onExceeded: () => void): () => void {
  const read = () => readAllThreads(pid)
  const time = new OwnTime(
    read,
    () => hasBusyThread(pid),
    () => performance.now(),
    2 * CHECK_INTERVAL_MS,
  )
  let ownMs = 0
  const timer = setInterval(() => {
    ownMs += time.step()
    if (ownMs <= limitMs) return
    clearInterval(timer)
    onExceeded()
  }, CHECK_INTERVAL_MS).unref()
  return () => clearInterval(timer)
}
