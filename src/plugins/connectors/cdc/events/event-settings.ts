import type { ColumnRules } from '../config/column-rules.ts'
import type { NameAdjustment } from './name-adjustment.ts'
import type { TopicNamingSettings } from './topic-naming.ts'

/** What an event has for a value that the server did not send. `omit` leaves the column out of the event. */
export const UNAVAILABLE_MODES = ['placeholder', 'omit', 'reselect'] as const

/** How changes become events. */
export type EventSettings = {
  readonly topics: TopicNamingSettings
  readonly columns: ColumnRules
  /** `c`, `u`, `d` and `t`. */
  readonly skippedOperations: ReadonlySet<string>
  readonly hasTombstones: boolean
  readonly hasTransactionMetadata: boolean
  /** Whether events have headers that name the connector and the task. */
  readonly hasContextHeaders: boolean
  /** Whether an update that changes none of the captured columns is skipped. */
  readonly skipsUnchanged: boolean
  readonly schemaNames: NameAdjustment
  readonly fieldNames: NameAdjustment
  readonly placeholder: string
  readonly unavailable: (typeof UNAVAILABLE_MODES)[number]
}
