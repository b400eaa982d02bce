import { quoted } from '../../../jdbc/identifier.ts'
import { OPEN_END } from './page-ranges.ts'
import type { Chunk } from './snapshot-plan.ts'
import type { SnapshotBounds } from './snapshot-progress.ts'

/**
 * The COPY that reads a chunk. `bounds` is given after a restart: then the rows are read in a newer snapshot than that of
 * which the stream delivers all later changes.
 */
export function copyStatement({ relation, pages, rows }: Chunk, bounds: SnapshotBounds | undefined): string {
  const { schema, name, table, statement } = relation
  const columns = table.columns.map((column) => quoted(column.name)).join(', ')
  // The statement may end with a comment.
  if (statement !== undefined) return `COPY (SELECT ${columns} FROM (${statement}\n) AS selected) TO STDOUT`
  const conditions = [
    pages.from > 0 && `ctid >= '(${pages.from},0)'::tid`,
    pages.to !== OPEN_END && `ctid < '(${pages.to},0)'::tid`,
    rows === 'changed' && bounds !== undefined && `age(xmin) <= ${ageOf(bounds.xmin)}`,
    // The stream delivers these rows as inserts. Without a key, nobody could tell that they are the same.
    rows === 'all' && bounds !== undefined && !table.columns.some(({ isKey }) => isKey) && seenBy(bounds),
  ].filter((condition) => condition !== false)
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
  return `COPY (SELECT ${columns} FROM ONLY ${quoted(schema)}.${quoted(name)}${where}) TO STDOUT`
}

/** A row that was inserted by a transaction that these bounds include. A transaction id is compared by its age. */
function seenBy({ xmax, running }: SnapshotBounds): string {
  const isOlder = `age(xmin) > ${ageOf(xmax)}`
  if (running.length === 0) return isOlder
  return `${isOlder} AND xmin <> ALL ('{${running.join(',')}}'::xid[])`
}

function ageOf(transactionId: number): string {
  return `age('${transactionId}'::xid)`
}
