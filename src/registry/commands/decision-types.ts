import type { Defaults } from '../queries/effective-config.ts'
import type { ParsedSchemas } from '../queries/parsed-schemas.ts'
import type { RegistryRecord } from '../store/registry-record.ts'
import type { RegistryView } from '../store/registry-view.ts'

/** The result of a command: the records to write, in order and in one batch, and the answer once they are written. */
export type Decision<Answer> = {
  readonly records: readonly Exclude<RegistryRecord, { kind: 'none' }>[]
  readonly answer: Answer
}

/**
 * The input of a decision. A decision has no side effects; it throws or rejects with a `RegistryError` if the request is not
 * allowed. While it waits for a comparison, other requests are served, but nothing is written (see `WriteQueue`).
 */
export type DecisionContext = {
  readonly view: RegistryView
  readonly schemas: ParsedSchemas
  readonly defaults: Defaults
  /** Whether modes may be changed at all. */
  readonly modesMutable: boolean
}

export function nothingToWrite<Answer>(answer: Answer): Decision<Answer> {
  return { records: [], answer }
}
