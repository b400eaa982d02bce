import type { JavaPattern } from '../../../../java-compat/regex.ts'
import { plainTable, quotedTable, type TableName } from '../identifier.ts'

/** Which of a database's tables a connector reads, as its configuration says it. */
export type Choice = {
  /** Names with or without schema, quoted or not; empty: all. */
  readonly whitelist: readonly string[]
  readonly blacklist: readonly string[]
  /** Regular expressions on `schema.name`, which they match in whole. */
  readonly include: readonly JavaPattern[]
  readonly exclude: readonly JavaPattern[]
}

/** The kinds of what can be read like a table, and their letters in the catalog. */
export const TABLE_TYPES = {
  TABLE: 'r',
  'PARTITIONED TABLE': 'p',
  VIEW: 'v',
  'MATERIALIZED VIEW': 'm',
  'FOREIGN TABLE': 'f',
} as const
export type TableType = keyof typeof TABLE_TYPES

/** Asks for schema and name of all tables of some kinds (`$1`) in schemas like a pattern (`$2`), in the order of their names. */
export const TABLES_SQL = `
  SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind::text = ANY ($1) AND NOT c.relispartition
    AND n.nspname LIKE $2 AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  ORDER BY n.nspname, c.relname`

export function chooseTables(tables: readonly TableName[], choice: Choice): readonly TableName[] {
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

/** Names that more than one table has, in different schemas: their rows would meet in one topic. */
export function sameNames(tables: readonly TableName[]): readonly string[] {
  return [...Map.groupBy(tables, ({ name }) => name)].filter(([, same]) => same.length > 1).map(([name]) => name)
}

/** As evenly as can be, each share of neighbours, none of them empty. */
export function shareOut<Item>(items: readonly Item[], shares: number): readonly (readonly Item[])[] {
  const count = Math.min(items.length, shares)
  return Array.from({ length: count }, (_, share) => {
    const [start, end] = [share, share + 1].map((index) => {
      const rest = items.length % count
      return Math.floor(items.length / count) * index + Math.min(index, rest)
    })
    return items.slice(start, end)
  })
}
