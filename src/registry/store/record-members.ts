/** The members of a record's key or value. */
export type RecordMembers = Readonly<Record<string, unknown>>

/** The tenant that Confluent's registry writes when multi-tenancy is off. */
export const TENANT = 'default'

export function toText(value: unknown, member: string): string {
  if (typeof value !== 'string') throw new Error(`its ${member} is not a string`)
  return value
}
