import { DataError, type SinkRecord } from '../../../../sdk/index.ts'
import type { Quote } from '../../jdbc/identifier.ts'
import { withFieldName } from '../../jdbc/sink/sink-columns.ts'
import type { TableWrite } from '../../jdbc/sink/sink-database.ts'
import type { MysqlForm } from './mysql-column.ts'

/** Statements have up to about this size, so that memory is bounded, or that of a single row. */
const STATEMENT_BYTES = 1 << 20
/** Part of a packet that a statement may use. */
const PACKET_SHARE = 0.9

/**
 * Yields the statements of a write. Each has the values of several rows as literals, except that an update has those of one row.
 * Throws a `DataError` for a value that cannot be converted.
 */
export function* writeStatements(
  write: TableWrite<MysqlForm>,
  quote: Quote,
  maxAllowedPacket: number,
): Generator<string> {
  const { kind, records, columns, target, keys } = write
  const names = target.columns.map(({ name }) => quote(name))
  const literals = columns.map((column, index) => {
    const literal = column.literalFor(target.columns[index]!.type)
    return (record: SinkRecord) => withFieldName(column.name, () => literal(column.pick(record)))
  })
  const packetBytes = Math.floor(maxAllowedPacket * PACKET_SHARE)
  const toRow = (record: SinkRecord) =>
    checkSize(
      literals.map((literal) => literal(record)),
      packetBytes,
    )
  if (kind === 'update') {
    for (const record of records) yield updateSql(target.table, names, toRow(record), keys)
    return
  }
  const [start, end] =
    kind === 'delete' ? deleteParts(target.table, names) : insertParts(target.table, names, kind, keys)
  for (const rows of groupBySize(records, toRow, Math.min(STATEMENT_BYTES, packetBytes))) {
    yield `${start}${rows.join(', ')}${end}`
  }
}

type Row = readonly string[]

function checkSize(row: Row, packetBytes: number): Row {
  const bytes = row.reduce((sum, literal) => sum + Buffer.byteLength(literal), 0)
  if (bytes < packetBytes) return row
  throw new DataError(
    `the row has ${bytes} bytes as SQL: increase max_allowed_packet of the server, or filter such records`,
  )
}

/** Yields rows in parentheses that together have about `bytesMax` bytes. */
function* groupBySize(
  records: readonly SinkRecord[],
  toRow: (record: SinkRecord) => Row,
  bytesMax: number,
): Generator<readonly string[]> {
  let rows: string[] = []
  let bytes = 0
  for (const record of records) {
    const row = `(${toRow(record).join(', ')})`
    const size = Buffer.byteLength(row)
    if (rows.length > 0 && bytes + size > bytesMax) {
      yield rows
      rows = []
      bytes = 0
    }
    rows.push(row)
    bytes += size
  }
  if (rows.length > 0) yield rows
}

/** The first `keys` columns are the key columns. */
function insertParts(
  table: string,
  names: readonly string[],
  kind: 'insert' | 'upsert',
  keys: number,
): readonly [start: string, end: string] {
  const start = `INSERT INTO ${table} (${names.join(', ')}) VALUES `
  if (kind === 'insert') return [start, '']
  const others = names.slice(keys)
  const changes =
    others.length === 0 ? [`${names[0]} = ${names[0]}`] : others.map((name) => `${name} = VALUES(${name})`)
  return [start, ` ON DUPLICATE KEY UPDATE ${changes.join(', ')}`]
}

function deleteParts(table: string, names: readonly string[]): readonly [start: string, end: string] {
  const key = names.length === 1 ? names[0]! : `(${names.join(', ')})`
  return [`DELETE FROM ${table} WHERE ${key} IN (`, ')']
}

/** There must be other columns than the key columns. */
function updateSql(table: string, names: readonly string[], row: Row, keys: number): string {
  const pairs = names.map((name, index) => `${name} = ${row[index]}`)
  return `UPDATE ${table} SET ${pairs.slice(keys).join(', ')} WHERE ${pairs.slice(0, keys).join(' AND ')}`
}
