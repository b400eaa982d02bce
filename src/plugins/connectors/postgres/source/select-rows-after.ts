import type { Quote } from '../../jdbc/identifier.ts'
import {
  type SelectStatement,
  selectAfterSql,
  type TableQuery,
  type UpperBound,
} from '../../jdbc/source/select-statement.ts'
import type { TableOffset } from '../../jdbc/source/table-offset.ts'
import { textFromMicros } from '../../jdbc/time-text.ts'
import type { TimeZone } from '../../jdbc/time-zone.ts'

/** Selects the rows after an offset, up to an upper bound, in the order of their offsets. Values are parameters. */
export function selectRowsAfter(
  tableQuery: TableQuery,
  offset: TableOffset,
  upperBound: UpperBound,
  quote: Quote,
  zone: TimeZone,
): SelectStatement {
  const values: string[] = []
  const id = (text: string) => `$${values.push(text)}`
  const time = (micros: number) => id(textFromMicros(micros, zone))
  const text = selectAfterSql(tableQuery, offset, upperBound, quote, {
    time,
    id,
    // Compares rows as tuples, which an index on both columns supports.
    isAfterPair: (timestamp, column, micros, lastId) => `(${timestamp}, ${column}) > (${time(micros)}, ${id(lastId)})`,
  })
  return { text, values }
}
