/** What a task has done since it was started. */
export type TaskCounters = {
  /** Records that a source polled or a sink read. */
  recordsIn: number
  /** Records that a source has safely in its topics or a sink was given. */
  recordsOut: number
  /** Keys and values of `recordsOut`, as stored. */
  bytesOut: number
  /** Records under way now. */
  recordsActive: number
  /** Records that wait for a sink in the log, in the partition where most do. */
  recordsLag: number
  /** Partitions that a sink has now. */
  partitions: number
  /** Polls of a source that brought records, and puts of a sink. */
  batches: number
  batchRecordsMax: number
  batchMsTotal: number
  batchMsMax: number
  commits: number
  commitFailures: number
  commitMsTotal: number
  commitMsMax: number
  /** How old records were when a sink had them, by their own timestamps. */
  latencyMsTotal: number
  /** In the last batch. */
  latencyMsMax: number
  /** Errors of single records, tolerated or not. */
  errors: number
  errorsLogged: number
  retries: number
  skipped: number
  deadLetters: number
  deadLetterFailures: number
  /** Ms since 1970; 0: never. */
  lastErrorMs: number
}

const NAMES = Object.keys({
  recordsIn: 0,
  recordsOut: 0,
  bytesOut: 0,
  recordsActive: 0,
  recordsLag: 0,
  partitions: 0,
  batches: 0,
  batchRecordsMax: 0,
  batchMsTotal: 0,
  batchMsMax: 0,
  commits: 0,
  commitFailures: 0,
  commitMsTotal: 0,
  commitMsMax: 0,
  latencyMsTotal: 0,
  latencyMsMax: 0,
  errors: 0,
  errorsLogged: 0,
  retries: 0,
  skipped: 0,
  deadLetters: 0,
  deadLetterFailures: 0,
  lastErrorMs: 0,
} satisfies TaskCounters) as readonly (keyof TaskCounters)[]

/** Room for one task's counters in memory that threads share. */
export function countersMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(NAMES.length * Float64Array.BYTES_PER_ELEMENT)
}

/** Counters in shared memory: one thread counts, others look. A number is never seen half written. */
export function countersIn(memory = countersMemory()): TaskCounters {
  const values = new Float64Array(memory)
  const counters = NAMES.map((name, at) => [
    name,
    {
      enumerable: true,
      get: () => values[at],
      set: (value: number) => {
        values[at] = value
      },
    },
  ])
  return Object.defineProperties({}, Object.fromEntries(counters)) as TaskCounters
}

/** One more batch that was polled or put, and how long that took. */
export function countBatch(counters: TaskCounters, records: number, ms: number): void {
  counters.batches += 1
  counters.batchRecordsMax = Math.max(counters.batchRecordsMax, records)
  counters.batchMsTotal += ms
  counters.batchMsMax = Math.max(counters.batchMsMax, ms)
}

/** How long a commit took, whatever came of it. */
export function countCommitMs(counters: TaskCounters, ms: number): void {
  counters.commitMsTotal += ms
  counters.commitMsMax = Math.max(counters.commitMsMax, ms)
}
