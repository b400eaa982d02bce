import type { ResultRow, Session } from '../../session.ts'

/** What the catalog knows of a column, in addition to a relation message. */
export type ColumnDescription = {
  readonly name: string
  readonly typeId: number
  readonly modifier: number
  readonly isOptional: boolean
  readonly defaultExpression: string | undefined
  /** Place of the column in the key, from 1; undefined if it is not part of the key. */
  readonly keyPosition: number | undefined
}

/**
 * The columns of a table in their order. The key is the primary key, otherwise the first unique index, by name. Its columns may
 * be optional, as with Debezium.
 */
const COLUMNS_SQL = `
  SELECT a.attname, a.atttypid, a.atttypmod, a.attnotnull, pg_get_expr(d.adbin, d.adrelid), array_position(k.indkey, a.attnum)
  FROM pg_attribute a
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  LEFT JOIN LATERAL (
    SELECT array(SELECT unnest((i.indkey::int2[])[0:i.indnkeyatts - 1])) AS indkey
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = a.attrelid AND i.indisvalid AND (i.indisprimary OR (
      i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL))
    ORDER BY i.indisprimary DESC, c.relname LIMIT 1) k ON true
  WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum`

/** Reads the columns as they are now. Empty if the table does not exist. */
export async function describeColumns(session: Session, tableId: number): Promise<readonly ColumnDescription[]> {
  const rows = await session.query(`read the columns of the table with the OID ${tableId}`, COLUMNS_SQL, [
    String(tableId),
  ])
  return rows.map(toDescription)
}

function toDescription([
  name,
  typeId,
  modifier,
  isNotNull,
  defaultExpression,
  keyPosition,
]: ResultRow): ColumnDescription {
  return {
    name: name!,
    typeId: Number(typeId),
    modifier: Number(modifier),
    isOptional: isNotNull !== 't',
    defaultExpression: defaultExpression ?? undefined,
    keyPosition: keyPosition === null || keyPosition === undefined ? undefined : Number(keyPosition),
  }
}
