import type { WorkerResults } from '../compatibility-worker/worker-results.ts'
import type { Defaults } from '../queries/effective-config.ts'
import type { ParsedSchemas } from '../queries/parsed-schemas.ts'
import type { RegistryRecord } from '../store/registry-record.ts'
import type { RegistryView } from '../store/registry-state.ts'

/** The result of a command: the records to write, in order and in one batch, and the answer once they are written. */
export type Decision<Answer> = {
  readonly records: readonly Exclude<RegistryRecord, { kind: 'none' }>[]
  readonly answer: Answer
}

/**
 * The input of a decision. A decision has no side effects; it throws a `RegistryError` if the request is not allowed.
 */
export type DecisionContext = {
  readonly view: RegistryView
  readonly schemas: ParsedSchemas
  /**
   * Results for large schemas. A decision that lacks one throws `MissingWorkerResult` and is repeated with the result.
   */
  readonly workerResults: WorkerResults
  readonly defaults: Defaults
  /** Whether modes may be changed at all. */
  readonly modesMutable: boolean
}

export function nothingToWrite<Answer>(answer: Answer): Decision<Answer> {
  return { records: [], answer }
}
