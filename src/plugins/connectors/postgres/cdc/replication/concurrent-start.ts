import { DatabaseError } from '../../../jdbc/database-error.ts'

/** SQLSTATE codes of an object that was created between the check of the server and the statement that creates it. */
const ALREADY_EXISTS: ReadonlySet<string | undefined> = new Set(['42710', '23505'])

/** Creates an object of the server. Throws a transient error if another start has just created it: the next one finds it. */
export async function createOnce<Result>(creating: Promise<Result>): Promise<Result> {
  try {
    return await creating
  } catch (error) {
    if (!(error instanceof DatabaseError) || !ALREADY_EXISTS.has(error.sqlState)) throw error
    const { message, sqlState } = error
    throw new DatabaseError(`${message}; another connector has created it`, {
      isTransient: true,
      sqlState,
      cause: error,
    })
  }
}
