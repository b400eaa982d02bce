/** Options of a benchmark run. */
export type Settings = {
  /** The root of the built checkout whose Weir is measured. */
  readonly checkout: string
  /** The Kafka cluster of this run. */
  readonly bootstrap: string
  /** Process id of that Kafka; undefined in a container. */
  readonly kafkaPid: number | undefined
  /** Settings of the Kafka clients of both sides, with Java's names; undefined: the defaults. */
  readonly client?: Readonly<Record<string, string>> | undefined
  /** Replicas of the topics; undefined: 1. */
  readonly replicas?: number | undefined
  /** Whether a part leaves out what takes long. */
  readonly isQuick: boolean
  readonly records: number
  readonly rounds: number
  /** Number of resources of the operator: 60 % Subjects and 40 % Connectors. */
  readonly objects: number
  /** Number of schema versions in the registry. */
  readonly schemas: number
  /** Which converter settings the bench of change data capture measures, separated by commas; undefined: all. */
  readonly converters?: string | undefined
}

/** Reports progress on standard error; standard output has only the result table. */
export function progress(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}

/** JVM options of a broker for production-like performance, unlike those of the tests. */
export const BROKER_JVM = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC']
