/** What a bench run is asked for. */
export type Settings = {
  /** The Kafka that everything of this run meets. */
  readonly bootstrap: string
  /** Of that Kafka. */
  readonly kafkaPid: number | undefined
  readonly records: number
  readonly rounds: number
  /** Resources that the operator keeps: six Subjects for four Connectors. */
  readonly objects: number
  /** Arguments for every Node process of ours: profiling. */
  readonly nodeArgs: readonly string[]
}

/** Says on standard error what is being measured, so that the table on standard output stays a table. */
export function progress(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}
