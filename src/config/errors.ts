/**
 * Something a person can put right: what was wrong, where, and what would be right stand in the message.
 * `Code` is a closed set of the module that throws it; the numbers of a wire belong to the edge, not here.
 */
export class UserError<Code extends string = string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UserError'
    this.code = code
  }
}

/** For the branch that cannot happen: the compiler proves it, the runtime still checks. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

/** The message of whatever was thrown, for a sentence that goes on. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
