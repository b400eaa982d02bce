import type { ResultColumns, TypeMapping } from '../../jdbc/source/source-database.ts'
import type { PostgresField } from '../postgres-field.ts'
import type { Session } from '../session.ts'
import { type ColumnType, toResultColumn } from './result-columns.ts'

/** Returns the names of built-in types, of the element type for an array and of the base type for a domain. */
const TYPES_SQL = `
  SELECT t.oid, t.typcategory = 'A', CASE WHEN b.typnamespace = 'pg_catalog'::regnamespace THEN b.typname END
  FROM pg_type t LEFT JOIN pg_type e ON e.oid = CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE t.oid END
    LEFT JOIN pg_type b ON b.oid = coalesce(nullif(e.typbasetype, 0), e.oid)
  WHERE t.oid = ANY ($1::oid[])`

const NOT_NULL_SQL = 'SELECT attrelid, attnum FROM pg_attribute WHERE attnotnull AND attrelid = ANY ($1::oid[])'

/** Returns the columns of the result of a SELECT. */
export async function describeSelect(
  session: Session,
  operation: string,
  select: string,
  mapping: TypeMapping,
): Promise<ResultColumns> {
  const fields = await session.describe(operation, `SELECT * FROM (${select}) AS described LIMIT 0`)
  const types = await typesOf(session, fields)
  return { fields, columns: fields.map((field, index) => toResultColumn(field, types[index]!, mapping)) }
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
