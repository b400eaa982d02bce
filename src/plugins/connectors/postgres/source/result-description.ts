import type { Schema } from '../../../../sdk/index.ts'
import type { Quote } from '../../jdbc/identifier.ts'
import type { ResultField } from '../../jdbc/row-cursor.ts'
import type { PostgresField } from '../postgres-field.ts'
import type { Session } from '../session.ts'
import { type ColumnType, type ResultColumn, type TypeMapping, toResultColumn } from './result-columns.ts'
import { selectAllSql, type TableQuery } from './select-statement.ts'

/** Columns and schema of a table or query. `schema` stays the same object until the columns change. */
export type ResultDescription = {
  readonly fields: readonly PostgresField[]
  readonly columns: readonly ResultColumn[]
  readonly schema: Schema
}

/** Returns the names of built-in types, of the element type for an array and of the base type for a domain. */
const TYPES_SQL = `
  SELECT t.oid, t.typcategory = 'A', CASE WHEN b.typnamespace = 'pg_catalog'::regnamespace THEN b.typname END
  FROM pg_type t LEFT JOIN pg_type e ON e.oid = CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE t.oid END
    LEFT JOIN pg_type b ON b.oid = coalesce(nullif(e.typbasetype, 0), e.oid)
  WHERE t.oid = ANY ($1::oid[])`

const NOT_NULL_SQL = 'SELECT attrelid, attnum FROM pg_attribute WHERE attnotnull AND attrelid = ANY ($1::oid[])'

/** Requests the description from the server. Reuses the schema object of `before` if the schema has not changed. */
export async function describeResult(
  session: Session,
  tableQuery: TableQuery,
  options: { readonly quote: Quote; readonly mapping: TypeMapping },
  before: ResultDescription | undefined,
): Promise<ResultDescription> {
  const fields = await session.describe(
    'read',
    `SELECT * FROM (${selectAllSql(tableQuery, options.quote)}) AS described LIMIT 0`,
  )
  const types = await typesOf(session, fields)
  const columns = fields.map((field, index) => toResultColumn(field, types[index]!, options.mapping))
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

async function typesOf(session: Session, fields: readonly PostgresField[]): Promise<readonly ColumnType[]> {
  const operation = 'read the types of the columns'
  const ids = (list: readonly number[]) => `{${[...new Set(list)].join(',')}}`
  const rows = await session.query(operation, TYPES_SQL, [ids(fields.map(({ typeId }) => typeId))])
  const types = new Map(
    rows.map(([id, isArray, name]) => [Number(id), { isArray: isArray === 't', name: name ?? undefined }]),
  )
  const tables = fields.map(({ tableId }) => tableId).filter((id) => id !== 0)
  const required = tables.length === 0 ? [] : await session.query(operation, NOT_NULL_SQL, [ids(tables)])
  const notNull = new Set(required.map(([table, column]) => `${table}.${column}`))
  return fields.map(({ typeId, tableId, columnId }) => {
    const { isArray = false, name } = types.get(typeId) ?? {}
    const shape = isArray ? { name: undefined, items: { name } } : { name }
    return { ...shape, notNull: notNull.has(`${tableId}.${columnId}`) }
  })
}
