import type { WorkerResults } from '../compatibility-worker/worker-results.ts'
import type { Defaults } from '../queries/effective-config.ts'
import type { ParsedSchemas } from '../queries/parsed-schemas.ts'
import type { RegistryRecord } from '../store/record.ts'
import type { RegistryView } from '../store/state.ts'

/** What a request comes to: records to write, in order and at once, and the answer that holds when they are written. */
export type Decision<Answer> = {
  readonly records: readonly Exclude<RegistryRecord, { kind: 'none' }>[]
  readonly answer: Answer
}

/** What decisions are made from. They read it and change nothing; what is not allowed is a thrown `RegistryError`. */
export type DecisionContext = {
  readonly view: RegistryView
  readonly schemas: ParsedSchemas
  /** What is known of large schemas; a decision that needs more throws `MissingWorkerResult`, and is made anew. */
  readonly workerResults: WorkerResults
  readonly defaults: Defaults
  /** Whether modes may be changed at all. */
  readonly modesMutable: boolean
}

export function nothingToWrite<Answer>(answer: Answer): Decision<Answer> {
  return { records: [], answer }
}
