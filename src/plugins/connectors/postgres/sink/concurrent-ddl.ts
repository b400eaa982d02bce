import { DatabaseError } from '../../jdbc/database-error.ts'
import type { Session } from '../session.ts'

/** SQLSTATE codes reported if another session has just created the same catalog row, table, column or type. */
const ALREADY_EXISTS: ReadonlySet<string> = new Set(['23505', '42P07', '42701', '42710'])

/**
 * Executes DDL that another task may be executing at the same time. Ignores errors because the object already exists.
 */
export async function executeConcurrentDdl(session: Session, operation: string, sql: string): Promise<void> {
  try {
    await session.query(operation, sql)
  } catch (error) {
    const alreadyExists = error instanceof DatabaseError && ALREADY_EXISTS.has(error.sqlState ?? '')
    if (!alreadyExists) throw error
  }
}
