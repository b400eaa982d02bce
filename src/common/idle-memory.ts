import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const CHECK_INTERVAL_MS = 3_000
/** A thread that was active for a smaller part of the interval is idle. */
const IDLE_UTILIZATION_MAX = 0.05
/** Number of idle intervals before a collection, so that it does not delay the requests between two pauses. */
const IDLE_INTERVALS = 3
/** Less is not worth the time of a collection, in bytes. */
const YOUNG_BYTES_MIN = 4 * 1024 * 1024
/** A larger heap is not collected, because that would block the thread for too long, in bytes. */
const HEAP_BYTES_MAX = 128 * 1024 * 1024

export type HeapState = {
  /** Resident memory of the young generation, in bytes. */
  readonly youngBytes: number
  readonly heapBytes: number
  /** Part of the last interval in which the thread was active, from 0 to 1. */
  readonly utilization: number
}

/**
 * Returns memory of this thread to the system while it is idle. V8 keeps the young generation as large as the start or a
 * burst of work needed it, which is up to 16 MB with the flags of Weir, until a collection that is to save memory. Collections
 * take 0.1 s, so threads that are active or have a large heap are left alone.
 */
export function returnMemoryWhenIdle(checkIntervalMs = CHECK_INTERVAL_MS): void {
  let last = performance.eventLoopUtilization()
  let idleIntervals = 0
  setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(last)
    last = performance.eventLoopUtilization()
    idleIntervals = shouldCollect({ ...heapSizes(), utilization }) ? idleIntervals + 1 : 0
    if (idleIntervals < IDLE_INTERVALS) return
    idleIntervals = 0
    collectGarbage()
  }, checkIntervalMs).unref()
}

/** Whether a thread is idle, and a collection returns enough for the time that it takes. */
export function shouldCollect({ youngBytes, heapBytes, utilization }: HeapState): boolean {
  return utilization < IDLE_UTILIZATION_MAX && youngBytes >= YOUNG_BYTES_MIN && heapBytes <= HEAP_BYTES_MAX
}

function heapSizes(): Omit<HeapState, 'utilization'> {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  return { youngBytes: young?.physical_space_size ?? 0, heapBytes: getHeapStatistics().used_heap_size }
}

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void

/** The function is taken from a context of its own, so that other code in this process cannot call it. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', flavor: 'last-resort' })
}
