/** Something that prevents the capture of changes, or makes it incomplete. */
export type SetupProblem = {
  /** The configuration key that it concerns most. */
  readonly key: string
  /** A sentence that names the thing, its value and what is expected. */
  readonly message: string
  /** What mends it; SQL unless it cannot be done by SQL. */
  readonly remedy: string
}

export function problem(key: string, message: string, remedy: string): SetupProblem {
  return { key, message, remedy }
}
