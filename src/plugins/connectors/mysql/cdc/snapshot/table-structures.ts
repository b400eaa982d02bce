import { DatabaseError } from '../../../jdbc/database-error.ts'
import { quotedTable } from '../../../jdbc/identifier.ts'
import type { MysqlSession } from '../../session.ts'
import { mysqlQuoted } from '../../sql-literal.ts'
import { isSystemDatabase } from '../config/mysql-cdc-config.ts'
import { SqlSyntaxError } from '../ddl/sql-tokens.ts'
import { modesOf, parseStatement } from '../ddl/statement.ts'
import type { TableSchemas } from '../ddl/table-schemas.ts'
import type { HistoryTable, TableId } from '../table-model.ts'

/** A table with the statement that creates it. */
export type ReadTable = { readonly table: HistoryTable; readonly ddl: string }

/** The structure of tables as they are now. */
export type ReadStructures = {
  readonly tables: readonly ReadTable[]
  /** The character set and the collation of each database. */
  readonly databases: ReadonlyMap<string, { readonly charset: string; readonly collation: string }>
}

/** Errors of a table that was dropped meanwhile, or whose definition is broken. */
const NO_TABLE: ReadonlySet<number | undefined> = new Set([1146, 1356])

/** Reads the structure of tables as they are now. Throws if that of a captured table cannot be read. */
export async function readStructures(
  session: MysqlSession,
  schemas: TableSchemas,
  { isRead, isCaptured }: { readonly isRead: (id: TableId) => boolean; readonly isCaptured: (id: TableId) => boolean },
): Promise<ReadStructures> {
  const found = await session.query(
    'read the databases',
    'SELECT schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata',
  )
  const databases = new Map(
    found.map(([name, charset, collation]) => [name!, { charset: charset!, collation: collation! }]),
  )
  for (const [database, { charset }] of databases) schemas.setDatabaseCharset(database, charset)
  const names = await session.query(
    'read the tables',
    "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') " +
      'ORDER BY table_schema, table_name',
  )
  const read: ReadTable[] = []
  for (const [schema, name] of names) {
    const id = { schema: schema!, name: name! }
    if (isSystemDatabase(id.schema) || !isRead(id)) continue
    const ddl = await readDefinition(session, id)
    const table = ddl === undefined ? undefined : applied(schemas, id, ddl, isCaptured(id))
    if (table !== undefined) read.push({ table, ddl: ddl! })
  }
  return { tables: read, databases }
}

async function readDefinition(session: MysqlSession, id: TableId): Promise<string | undefined> {
  const operation = `read the structure of ${id.schema}.${id.name}`
  try {
    const [[, ddl] = []] = await session.query(operation, `SHOW CREATE TABLE ${quotedTable(id, mysqlQuoted)}`)
    return ddl ?? undefined
  } catch (error) {
    if (error instanceof DatabaseError && NO_TABLE.has(error.errno)) return undefined
    throw error
  }
}

function applied(schemas: TableSchemas, id: TableId, ddl: string, isCaptured: boolean): HistoryTable | undefined {
  try {
    // The server prints names in backticks, whatever the mode is.
    schemas.apply(parseStatement(ddl, id.schema, modesOf(0n)), () => false)
    return schemas.get(id)
  } catch (error) {
    if (!(error instanceof SqlSyntaxError)) throw error
    if (!isCaptured) return undefined
    throw new SqlSyntaxError(
      `the structure of ${id.schema}.${id.name} cannot be read: ${error.message}; its definition is: ${ddl}`,
    )
  }
}
