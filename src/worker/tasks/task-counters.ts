/** The counters of one task since its start. */
export type TaskCounters = {
  /** Records that a source polled or a sink read from its topics. */
  recordsIn: number
  /** Records of a source that were acknowledged by the brokers, or records that a sink accepted. */
  recordsOut: number
  /** Sizes of the keys and values in `recordsOut`, as stored. */
  bytesOut: number
  /** Records that are being processed now. */
  recordsActive: number
  /** Highest lag of a sink among its partitions, in records. */
  recordsLag: number
  /** Lag of a source behind its external system, as it reports it; 0 for a source that does not. */
  sourceLagMs: number
  sourceLagBytes: number
  /** Data that the external system retains for a source. */
  sourceRetainedBytes: number
  /** Progress of the snapshot that a source reads, as it reports it; 0 before its first report. */
  sourceSnapshotRows: number
  sourceSnapshotPercent: number
  /** Estimated remaining time in ms; 0 if the snapshot is complete or the time is not known. */
  sourceSnapshotRemainingMs: number
  /** Partitions that are assigned to a sink. */
  partitions: number
  /** Polls of a source that returned records, or puts of a sink. */
  batches: number
  batchRecordsMax: number
  batchMsTotal: number
  batchMsMax: number
  commits: number
  commitFailures: number
  commitMsTotal: number
  commitMsMax: number
  /** Sum of the ages of records when a sink accepted them, by the records' timestamps. */
  latencyMsTotal: number
  /** Highest age in the last batch. */
  latencyMsMax: number
  /** Records that failed, tolerated or not. */
  errors: number
  errorsLogged: number
  retries: number
  skipped: number
  deadLetters: number
  deadLetterFailures: number
  /** Ms since 1970; 0 if there was no error. */
  lastErrorMs: number
}

const NAMES = Object.keys({
  recordsIn: 0,
  recordsOut: 0,
  bytesOut: 0,
  recordsActive: 0,
  recordsLag: 0,
  sourceLagMs: 0,
  sourceLagBytes: 0,
  sourceRetainedBytes: 0,
  sourceSnapshotRows: 0,
  sourceSnapshotPercent: 0,
  sourceSnapshotRemainingMs: 0,
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

/** Allocates shared memory for the counters of one task. */
export function countersMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(NAMES.length * Float64Array.BYTES_PER_ELEMENT)
}

/** Counters in shared memory: one thread writes, others read. A reader never sees a partly written number. */
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

/** Counts a batch that was polled or put, and its duration. */
export function countBatch(counters: TaskCounters, records: number, ms: number): void {
  counters.batches += 1
  counters.batchRecordsMax = Math.max(counters.batchRecordsMax, records)
  counters.batchMsTotal += ms
  counters.batchMsMax = Math.max(counters.batchMsMax, ms)
}

/** Counts the duration of a commit, successful or not. */
export function countCommitMs(counters: TaskCounters, ms: number): void {
  counters.commitMsTotal += ms
  counters.commitMsMax = Math.max(counters.commitMsMax, ms)
}
