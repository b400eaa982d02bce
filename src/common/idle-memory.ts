import { flushCompileCache } from 'node:module'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const CHECK_INTERVAL_MS = 1_000
/**
 * A thread that used less CPU time, as a part of the interval, is idle. It is not the utilization of the event loop, which is
 * high on a machine that other programs keep busy.
 */
const IDLE_CPU_UTILIZATION_MAX = 0.1
/** A thread that used more is active. */
const ACTIVE_CPU_UTILIZATION_MIN = 0.25
/** Number of idle intervals before a collection, so that it does not delay the requests between two pauses. */
const IDLE_INTERVALS = 9
/** Number of intervals between two collections, so that they take little of the time of a thread with little work. */
const COLLECTION_INTERVALS = 60
/** Less is not worth the time of a collection, in bytes. */
const YOUNG_BYTES_MIN = 4 * 1024 * 1024
/** A thread that has allocated this many bytes more than it used after the last collection has garbage worth a collection. */
const GARBAGE_BYTES_MIN = 8 * 1024 * 1024
/** The same as a part of what it used then: the time of a collection grows with what is in use. */
const GARBAGE_PART_MIN = 0.5
/** A larger heap is not collected, because that would block the thread for too long, in bytes. */
const HEAP_BYTES_MAX = 128 * 1024 * 1024
/** V8's default: the young generation doubles when as much as its size has survived. */
const YOUNG_GROWTH_FACTOR = 2

export type HeapState = {
  /** Resident memory of the young generation, in bytes. */
  readonly youngBytes: number
  readonly heapBytes: number
  /** The heap and the memory of its buffers, in bytes, with garbage that V8 has not collected. */
  readonly allocatedBytes: number
  /** `allocatedBytes` after the last collection, 0 before the first one. */
  readonly keptBytes: number
  /** CPU time of the thread as a part of the last interval, from 0 to 1. */
  readonly cpuUtilization: number
}

/**
 * Returns memory of this thread to the system while it is idle. V8 collects garbage only when code allocates memory, so a
 * thread keeps the garbage of its last load, with the buffers that belong to it. It also keeps the young generation as large as
 * the start or a burst of work needed it, until a collection that is to save memory. Collections take 0.1 s, so threads that
 * are active or have a large heap are left alone.
 *
 * The compile cache keeps the code of each module in memory until it is written. Call this function when
 * the thread has started, because it writes the cache. So does each collection.
 *
 * After a collection, the young generation does not grow again until the thread is active, although V8 lets it grow with
 * everything that has ever survived. This setting is one of the process.
 */
export function returnMemoryWhenIdle(checkIntervalMs = CHECK_INTERVAL_MS): void {
  flushCompileCache()
  let lastMs = threadCpuMs()
  let idleIntervals = 0
  let sinceCollection = COLLECTION_INTERVALS
  let keptBytes = 0
  let canGrow = true
  setInterval(() => {
    const cpuUtilization = (threadCpuMs() - lastMs) / checkIntervalMs
    lastMs = threadCpuMs()
    sinceCollection += 1
    if (!canGrow && cpuUtilization >= ACTIVE_CPU_UTILIZATION_MIN) {
      canGrow = true
      setFlagsFromString(`--semi-space-growth-factor=${YOUNG_GROWTH_FACTOR}`)
    }
    idleIntervals = shouldCollect({ ...heapSizes(), keptBytes, cpuUtilization }) ? idleIntervals + 1 : 0
    if (idleIntervals < IDLE_INTERVALS || sinceCollection < COLLECTION_INTERVALS) return
    idleIntervals = 0
    sinceCollection = 0
    flushCompileCache()
    collectGarbage()
    canGrow = false
    setFlagsFromString('--semi-space-growth-factor=1')
    keptBytes = heapSizes().allocatedBytes
    // Otherwise the CPU time of this collection would count as activity in the next interval.
    lastMs = threadCpuMs()
  }, checkIntervalMs).unref()
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Whether a thread is idle, and a collection returns enough for the time that it takes. */
export function shouldCollect({
  youngBytes,
  heapBytes,
  allocatedBytes,
  keptBytes,
  cpuUtilization,
}: HeapState): boolean {
  const garbageBytes = allocatedBytes - keptBytes
  const hasGarbage = garbageBytes >= Math.max(GARBAGE_BYTES_MIN, GARBAGE_PART_MIN * keptBytes)
  return (
    cpuUtilization < IDLE_CPU_UTILIZATION_MAX &&
    (youngBytes >= YOUNG_BYTES_MIN || hasGarbage) &&
    heapBytes <= HEAP_BYTES_MAX
  )
}

function heapSizes(): Omit<HeapState, 'keptBytes' | 'cpuUtilization'> {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
  const { used_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics()
  return { youngBytes: young?.physical_space_size ?? 0, heapBytes, allocatedBytes: heapBytes + externalBytes }
}

type Collect = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void

/**
 * Also drops the bytecode of all functions, which V8 compiles again when they are called: most of them were only needed at the
 * start. The function is taken from a context of its own, so that other code in this process cannot call it.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  setFlagsFromString('--stress-flush-code')
  collect({ type: 'major', flavor: 'last-resort' })
  setFlagsFromString('--no-stress-flush-code')
}
