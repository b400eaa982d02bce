import type { JavaPattern } from '../../../../java-compat/java-regex.ts'
import { plainTable, type Quote, quotedTable, type TableName } from '../identifier.ts'

/** Which tables of the database the connector reads. */
export type TableSelection = {
  /** Names with or without a schema, quoted or unquoted. Empty selects all tables. */
  readonly whitelist: readonly string[]
  readonly blacklist: readonly string[]
  /** Regular expressions that must match the whole of `schema.name`. */
  readonly include: readonly JavaPattern[]
  readonly exclude: readonly JavaPattern[]
}

export function selectTables(tables: readonly TableName[], choice: TableSelection, quote: Quote): readonly TableName[] {
  const { whitelist, blacklist, include, exclude } = choice
  const isListed = (list: readonly string[], table: TableName) =>
    [table.name, plainTable(table), quotedTable(table, quote)].some((spelling) => list.includes(spelling))
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
