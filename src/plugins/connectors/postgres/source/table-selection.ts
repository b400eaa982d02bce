import type { JavaPattern } from '../../../../java-compat/java-regex.ts'
import { plainTable, quotedTable, type TableName } from '../../jdbc/identifier.ts'

/** Which tables of the database the connector reads. */
export type TableSelection = {
  /** Names with or without a schema, quoted or unquoted. Empty selects all tables. */
  readonly whitelist: readonly string[]
  readonly blacklist: readonly string[]
  /** Regular expressions that must match the whole of `schema.name`. */
  readonly include: readonly JavaPattern[]
  readonly exclude: readonly JavaPattern[]
}

/** The supported kinds of relation, with their `relkind` in the catalog. */
export const TABLE_TYPES = {
  TABLE: 'r',
  'PARTITIONED TABLE': 'p',
  VIEW: 'v',
  'MATERIALIZED VIEW': 'm',
  'FOREIGN TABLE': 'f',
} as const
export type TableType = keyof typeof TABLE_TYPES

/**
 * Selects schema and name of the relations of certain kinds (`$1`) in schemas that match a LIKE pattern (`$2`), sorted
 * by name.
 */
export const TABLES_SQL = `
  SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind::text = ANY ($1) AND NOT c.relispartition
    AND n.nspname LIKE $2 AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  ORDER BY n.nspname, c.relname`

export function selectTables(tables: readonly TableName[], choice: TableSelection): readonly TableName[] {
  const { whitelist, blacklist, include, exclude } = choice
  const isListed = (list: readonly string[], table: TableName) =>
    [table.name, plainTable(table), quotedTable(table)].some((spelling) => list.includes(spelling))
  const matches = (patterns: readonly JavaPattern[], table: TableName) =>
    patterns.some((pattern) => pattern.test(plainTable(table)))
  return tables.filter((table) => {
    if (include.length > 0) return matches(include, table) && !matches(exclude, table)
    return whitelist.length > 0 ? isListed(whitelist, table) : !isListed(blacklist, table)
  })
}

/** Returns table names that occur in several schemas. Their rows would be written to the same topic. */
export function findDuplicateNames(tables: readonly TableName[]): readonly string[] {
  return [...Map.groupBy(tables, ({ name }) => name)].filter(([, same]) => same.length > 1).map(([name]) => name)
}

/** Splits the items into contiguous shares of nearly equal size, none of them empty. */
export function partitionEvenly<Item>(items: readonly Item[], shares: number): readonly (readonly Item[])[] {
  const count = Math.min(items.length, shares)
  return Array.from({ length: count }, (_, share) => {
    const [start, end] = [share, share + 1].map((index) => {
      const rest = items.length % count
      return Math.floor(items.length / count) * index + Math.min(index, rest)
    })
    return items.slice(start, end)
  })
}
