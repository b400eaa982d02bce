import type { Schema } from '../../../../sdk/index.ts'
import type { Quote } from '../identifier.ts'
import type { ResultField } from '../row-cursor.ts'
import { selectAllSql, type TableQuery } from './select-statement.ts'
import type { ResultColumns, SourceSession, TypeMapping } from './source-database.ts'

/** Columns and schema of a table or query. `schema` stays the same object until the columns change. */
export type ResultDescription = ResultColumns & { readonly schema: Schema }

/** Requests the description from the server. Reuses the schema object of `before` if the schema has not changed. */
export async function describeResult(
  session: SourceSession,
  tableQuery: TableQuery,
  options: { readonly quote: Quote; readonly mapping: TypeMapping },
  before: ResultDescription | undefined,
): Promise<ResultDescription> {
  const select = selectAllSql(tableQuery, options.quote)
  const { fields, columns } = await session.describe('read', select, options.mapping)
  const name = 'table' in tableQuery.from ? { name: tableQuery.from.table.name } : {}
  const schema: Schema = {
    type: 'struct',
    ...name,
    fields: columns.map((column) => ({ name: column.name, schema: column.schema })),
  }
  const isSame = before !== undefined && JSON.stringify(before.schema) === JSON.stringify(schema)
  return { fields, columns, schema: isSame ? before.schema : schema }
}

/** Whether the columns of fetched rows match the description. */
export function isDescribedBy({ fields }: ResultDescription, now: readonly ResultField[]): boolean {
  return (
    fields.length === now.length &&
    fields.every(({ name, typeId }, at) => name === now[at]!.name && typeId === now[at]!.typeId)
  )
}
