import { type DatabaseError, toDatabaseError } from '../../database-error.ts'
import { DATABASE_KEY_NAMES } from '../config/database-keys.ts'

/** Converts an ErrorResponse of the server, a list of coded fields. `operation` completes "could not …". */
export function parseServerError(body: Buffer, operation: string): DatabaseError {
  const fields = new Map(
    body
      .toString()
      .split('\0')
      .filter((field) => field !== '')
      .map((field) => [field[0]!, field.slice(1)]),
  )
  const error = { code: fields.get('C'), message: fields.get('M'), detail: fields.get('D') }
  return toDatabaseError(error, operation, DATABASE_KEY_NAMES)
}
