import { plainTable, type TableName } from '../../jdbc/identifier.ts'
import { columnsFor } from './columns-mapping.ts'
import type { TableQuery } from './select-statement.ts'
import { type SourceConfig, userQuery } from './source-config.ts'

/** A table's column, from the catalog. */
export type CatalogColumn = { readonly name: string; readonly notNull: boolean; readonly isGenerated: boolean }

/** Selects the columns of a table (`$1`, quoted): name, whether NOT NULL, whether identity or serial. */
export const COLUMNS_SQL = `
  SELECT a.attname, a.attnotnull, a.attidentity <> '' OR coalesce(pg_get_expr(d.adbin, d.adrelid), '') LIKE '%nextval(%'
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

export function toUserTableQuery(config: SourceConfig): TableQuery {
  return {
    from: { query: userQuery(config) ?? '' },
    timestampColumns: usesTimestamp(config) ? config['timestamp.column.name'] : [],
    incrementingColumn: usesIncrementingId(config) ? config['incrementing.column.name'] : undefined,
    suffix: config['query.suffix'],
  }
}

/** Throws an `Error` if the table cannot be read in the configured mode. */
export function toTableQuery(table: TableName, columns: readonly CatalogColumn[], config: SourceConfig): TableQuery {
  const timestampColumns = usesTimestamp(config) ? timestampColumnsOf(table, columns, config) : []
  const incrementing = usesIncrementingId(config) ? incrementingColumnOf(table, columns, config) : undefined
  if (config['validate.non.null']) rejectNullableColumns(table, timestampColumns, incrementing)
  return {
    from: { table },
    timestampColumns: timestampColumns.map(({ name }) => name),
    incrementingColumn: incrementing?.name,
    suffix: config['query.suffix'],
  }
}

function usesTimestamp({ mode }: SourceConfig): boolean {
  return mode.startsWith('timestamp')
}

function usesIncrementingId({ mode }: SourceConfig): boolean {
  return mode.endsWith('incrementing')
}

function timestampColumnsOf(table: TableName, columns: readonly CatalogColumn[], config: SourceConfig) {
  const key = 'timestamp.columns.mapping'
  const names = columnsFor(config[key], table, key) ?? config['timestamp.column.name']
  return names.map((name) => findColumn(table, columns, name, 'timestamp.column.name'))
}

function incrementingColumnOf(
  table: TableName,
  columns: readonly CatalogColumn[],
  config: SourceConfig,
): CatalogColumn {
  const key = 'incrementing.column.mapping'
  const name = columnsFor(config[key], table, key)?.[0] ?? config['incrementing.column.name']
  if (name !== '') return findColumn(table, columns, name, 'incrementing.column.name')
  const found = columns.find(({ isGenerated }) => isGenerated)
  if (found !== undefined) return found
  throw new Error(`the table ${plainTable(table)} has no identity or serial column: set incrementing.column.name`)
}

/** Matches names exactly or, if only one column matches, regardless of case. */
function findColumn(table: TableName, columns: readonly CatalogColumn[], name: string, key: string): CatalogColumn {
  const exact = columns.find((column) => column.name === name)
  const similar = columns.filter((column) => column.name.toLowerCase() === name.toLowerCase())
  const found = exact ?? (similar.length === 1 ? similar[0] : undefined)
  if (found !== undefined) return found
  const known = columns.map((column) => column.name).join(', ')
  throw new Error(`the table ${plainTable(table)} has no column '${name}' (${key}); its columns are ${known}`)
}

function rejectNullableColumns(
  table: TableName,
  byTime: readonly CatalogColumn[],
  byId: CatalogColumn | undefined,
): void {
  const advice = 'declare it NOT NULL, or set validate.non.null=false if rows with null need not be read'
  if (byId?.notNull === false) {
    throw new Error(`the column '${byId.name}' of the table ${plainTable(table)} may be null: ${advice}`)
  }
  if (byTime.length > 0 && !byTime.some(({ notNull }) => notNull)) {
    const names = byTime.map(({ name }) => `'${name}'`).join(', ')
    throw new Error(`the timestamp of the table ${plainTable(table)} (${names}) may be null: ${advice}`)
  }
}
