import { plainTable, type TableName } from '../identifier.ts'
import { columnsFor } from './columns-mapping.ts'
import type { TableQuery } from './select-statement.ts'
import { type SourceConfig, userQuery } from './source-config.ts'
import type { CatalogColumn } from './source-database.ts'

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
  throw new Error(
    `the table ${plainTable(table)} has no identity or serial column, or AUTO_INCREMENT: set incrementing.column.name`,
  )
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
