import type { Session } from '../../session.ts'
import { type Column, REPLICA_IDENTITIES, type Table } from './change.ts'

/** A column that the catalog has or had. */
export type Attribute = {
  /** Undefined for a dropped column. */
  readonly name: string | undefined
  readonly isGenerated: boolean
}

/** A table as the catalog of the server describes it at the moment of the query, or in the snapshot of the transaction. */
export type CatalogTable = {
  readonly table: Table
  readonly kind: 'table' | 'partitioned'
  /** The partitioned table that this one is a direct partition of. */
  readonly partitionOf: number | undefined
  /** Number of the file with the rows. It changes when the table is rewritten or truncated; 0 if there is no file. */
  readonly fileNumber: number
  /** Rows as the last ANALYZE or VACUUM counted them; -1 if neither has run. */
  readonly rowsEstimate: number
  /** Whether large values are stored out of line, so that a change need not contain them. */
  readonly hasToast: boolean
  /** In the order of their creation. */
  readonly attributes: readonly Attribute[]
}

/**
 * The key is the primary key, or else the first unique index, by name; its columns may be optional, as with Debezium. A replica
 * identity that is an index without the columns of the primary key is the key instead: the key of a deleted row must be known. An
 * index on expressions or on a part of the rows is no key.
 */
const TABLES_SQL = `
  SELECT c.oid, n.nspname, c.relname, c.relkind, c.relreplident, c.relfilenode, c.reltuples::bigint, c.reltoastrelid <> 0,
    (SELECT i.inhparent FROM pg_inherits i WHERE c.relispartition AND i.inhrelid = c.oid),
    a.attname, a.atttypid, a.atttypmod, array_position(k.columns, a.attnum), NOT a.attnotnull,
    CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END, a.attisdropped, a.attgenerated <> ''
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  LEFT JOIN LATERAL (
    SELECT ARRAY(SELECT unnest((i.indkey::int2[])[0:i.indnkeyatts - 1])) AS columns
    FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
    WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
    ORDER BY c.relreplident = 'i' AND i.indisreplident AND NOT EXISTS (SELECT FROM pg_index p
        WHERE p.indrelid = c.oid AND p.indisprimary AND i.indkey::int2[] @> p.indkey::int2[]) DESC,
      i.indisprimary DESC, x.relname LIMIT 1
  ) k ON true
  WHERE c.relkind IN ('r', 'p') AND c.relpersistence = 'p' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
    AND ($1::oid[] IS NULL OR c.oid = ANY ($1::oid[]))
  ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C", a.attnum`

/** Reads tables by OID, or all tables whose changes the server can publish. Sorted by schema and name. */
export async function readTables(session: Session, ids?: readonly number[]): Promise<readonly CatalogTable[]> {
  const rows = await session.query('read the tables of the database', TABLES_SQL, [
    ids === undefined ? null : `{${ids.join(',')}}`,
  ])
  return [...Map.groupBy(rows, ([id]) => id).values()].map((found) => {
    const [id, schema, name, kind, replicaIdentity, fileNumber, rowsEstimate, hasToast, partitionOf] = found[0]!
    // A table may have no columns.
    const attributes = found.filter((row) => row[9] !== null)
    const columns = attributes.filter((row) => row[15] === 'f')
    return {
      table: {
        id: Number(id),
        schema: schema!,
        name: name!,
        replicaIdentity: REPLICA_IDENTITIES[replicaIdentity!]!,
        columns: columns.map(toColumn),
        keyNames: columns
          .filter((row) => row[12] !== null)
          .toSorted((a, b) => Number(a[12]) - Number(b[12]))
          .map((row) => row[9]!),
      },
      kind: kind === 'p' ? 'partitioned' : 'table',
      partitionOf: partitionOf === null ? undefined : Number(partitionOf),
      fileNumber: Number(fileNumber),
      rowsEstimate: Number(rowsEstimate),
      hasToast: hasToast === 't',
      attributes: attributes.map((row) => ({
        name: row[15] === 't' ? undefined : row[9]!,
        isGenerated: row[16] === 't',
      })),
    }
  })
}

function toColumn(row: readonly (string | null)[]): Column {
  const [name, typeId, modifier, keyPosition, isOptional, defaultExpression] = row.slice(9)
  return {
    name: name!,
    typeId: Number(typeId),
    modifier: Number(modifier),
    isKey: keyPosition !== null,
    isOptional: isOptional === 't',
    defaultExpression: defaultExpression ?? undefined,
  }
}
