/**
 * An error that a user can fix. The message states what is wrong, where, and what is expected. `Code` is a closed set
 * of the module that throws it; mapping it to HTTP status codes is up to the routes.
 */
export class UserError<Code extends string = string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UserError'
    this.code = code
  }
}

/** For unreachable branches: checked by the compiler, and again at runtime. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}

/** The message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error of the operating system, such as `ENOENT`. */
export function systemErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'syscall' in error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : undefined
}

/** The error that ended a block of `await using`, if its resources could not be released either: that follows from it. */
export function originalError(error: unknown): unknown {
  return error instanceof SuppressedError ? originalError(error.suppressed) : error
}
