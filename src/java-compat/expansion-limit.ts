import { DataError } from '../sdk/index.ts'

/** Far more than a record has fields, and few enough for a fraction of a second and some tens of megabytes. */
const SCHEMAS_MAX = 100_000

/**
 * Returns a function to be called for each schema that is converted to a Connect schema. A Connect schema repeats a type at
 * each place that uses it, so that a few types, each with two fields of the next type, have billions of fields. The function throws
 * a `DataError` for too many.
 */
export function expansionLimit(): () => void {
  let count = 0
  return () => {
    count += 1
    if (count > SCHEMAS_MAX)
      throw new DataError(`the schema has more than ${SCHEMAS_MAX} fields if each use of a type is counted`)
  }
}
