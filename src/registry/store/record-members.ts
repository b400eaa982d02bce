/** The members of a key or a value. */
export type RecordMembers = Readonly<Record<string, unknown>>

/** Confluent's registry writes it for everything when it has no tenants. */
export const TENANT = 'default'

export function toText(value: unknown, member: string): string {
  if (typeof value !== 'string') throw new Error(`its ${member} is not a text`)
  return value
}
