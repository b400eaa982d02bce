import { DatabaseError } from '../database-error.ts'
import type { Session } from '../session.ts'

/** A row of the catalogue, a table, a column or a table's own type is there already, since a moment ago. */
const RACES: ReadonlySet<string> = new Set(['23505', '42P07', '42701', '42710'])

/** Makes what another task may be making at the same time: then all is well. */
export async function makeShared(session: Session, doing: string, sql: string): Promise<void> {
  try {
    await session.query(doing, sql)
  } catch (error) {
    const isRace = error instanceof DatabaseError && RACES.has(error.sqlState ?? '')
    if (!isRace) throw error
  }
}
