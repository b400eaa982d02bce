import type { Defaults } from '../queries/effective-config.ts'
import type { ParsedSchemas } from '../queries/parsed-schemas.ts'
import type { RegistryRecord } from '../store/registry-record.ts'
import type { RegistryView } from '../store/registry-view.ts'
import type { DecisionResults } from './decision-results.ts'

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
   * Results of this request. A decision that lacks the one for a large schema, or has run for its time, throws an
   * `IncompleteCheck` and is repeated.
   */
  readonly results: DecisionResults
  readonly defaults: Defaults
  /** Whether modes may be changed at all. */
  readonly modesMutable: boolean
}

export function nothingToWrite<Answer>(answer: Answer): Decision<Answer> {
  return { records: [], answer }
}
