import { quotedTable, type TableName } from '../../jdbc/identifier.ts'
import type { CatalogColumn, TableCriteria } from '../../jdbc/source/source-database.ts'
import type { Session } from '../session.ts'

/** The supported kinds of relation, with their `relkind` in the catalog. */
const RELATION_KINDS: Readonly<Record<string, string>> = {
  TABLE: 'r',
  'PARTITIONED TABLE': 'p',
  VIEW: 'v',
  'MATERIALIZED VIEW': 'm',
  'FOREIGN TABLE': 'f',
}
export const TABLE_TYPES: readonly string[] = Object.keys(RELATION_KINDS)

/**
 * Selects schema and name of the relations of certain kinds (`$1`) in schemas that match a LIKE pattern (`$2`), sorted
 * by name.
 */
const TABLES_SQL = `
  SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind::text = ANY ($1) AND NOT c.relispartition
    AND n.nspname LIKE $2 AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  ORDER BY n.nspname, c.relname`

/** Selects the columns of a table (`$1`, quoted): name, whether NOT NULL, whether identity or serial. */
const COLUMNS_SQL = `
  SELECT a.attname, a.attnotnull, a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid), '') LIKE '%nextval(%'
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

export async function listTables(
  session: Session,
  { types, schemaPattern }: TableCriteria,
): Promise<readonly TableName[]> {
  const kinds = `{${types.map((type) => RELATION_KINDS[type]).join(',')}}`
  const rows = await session.query('list tables', TABLES_SQL, [kinds, schemaPattern])
  return rows.map(([schema, name]) => ({ schema: schema!, name: name! }))
}

export async function readColumns(
  session: Session,
  operation: string,
  table: TableName,
): Promise<readonly CatalogColumn[]> {
  const rows = await session.query(operation, COLUMNS_SQL, [quotedTable(table)])
  return rows.map(([name, notNull, isGenerated]) => ({
    name: name!,
    notNull: notNull === 't',
    isGenerated: isGenerated === 't',
  }))
}
