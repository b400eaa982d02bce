import type { ResultField } from '../../jdbc/row-cursor.ts'
import {
  type SelectStatement,
  selectAfterSql,
  type TableQuery,
  type UpperBound,
} from '../../jdbc/source/select-statement.ts'
import type { SelectOptions } from '../../jdbc/source/source-database.ts'
import type { TableOffset } from '../../jdbc/source/table-offset.ts'
import type { TimeZone } from '../../jdbc/time-zone.ts'
import { clampedTimestamp } from '../date-text.ts'
import { textLiteral } from '../sql-literal.ts'
import { zoneOf } from './result-columns.ts'

/** Selects the rows after an offset, up to an upper bound, in the order of their offsets. Values are literals. */
export function selectMysqlRowsAfter(
  tableQuery: TableQuery,
  offset: TableOffset,
  upperBound: UpperBound,
  { quote, zone, fields }: SelectOptions,
): SelectStatement {
  const own = timestampZone(tableQuery, fields, zone)
  const time = (micros: number) => `TIMESTAMP'${clampedTimestamp(micros, own)}'`
  const id = (text: string) => (/^-?\d+$/.test(text) ? text : textLiteral(text))
  const text = selectAfterSql(tableQuery, offset, upperBound, quote, {
    time,
    id,
    // Unlike a comparison of tuples, the first condition uses an index of the timestamp.
    isAfterPair: (timestamp, column, micros, lastId) =>
      `${timestamp} >= ${time(micros)} AND (${timestamp} > ${time(micros)} OR ${column} > ${id(lastId)})`,
  })
  return { text, values: [] }
}

/** The zone of the timestamp of a row. Throws if it depends on the row. */
function timestampZone({ timestampColumns }: TableQuery, fields: readonly ResultField[], zone: TimeZone): TimeZone {
  const zones = new Set(
    fields
      .filter(({ name }) => timestampColumns.some((column) => column.toLowerCase() === name.toLowerCase()))
      .map((field) => zoneOf(field, zone)),
  )
  if (zones.size < 2) return [...zones][0] ?? zone
  throw new Error(
    `timestamp.column.name=${timestampColumns.join(',')} names columns of type timestamp and datetime, whose values are compared with each ` +
      'other: set db.timezone=UTC, or name columns of one of these types',
  )
}
