/** An exception that plugin code in a Java host threw, with its Java stack trace. */
export class JavaPluginError extends Error {
  override readonly name: string
  /** `retriable` for Java's `RetriableException`s, as of the SDK's `RetriableError`. */
  readonly code: 'retriable' | 'java'

  constructor({ className, message, trace, isRetriable }: JavaFailure) {
    super(message)
    this.name = className
    this.code = isRetriable ? 'retriable' : 'java'
    this.stack = trace
  }
}

export type JavaFailure = {
  readonly className: string
  readonly message: string
  readonly trace: string
  readonly isRetriable: boolean
}

/** The connection to a Java host ended. `isHostLost` finds it in the trace of a task. */
export class HostLostError extends Error {
  override readonly name = 'HostLostError'
  constructor(detail = '') {
    super(`${HOST_LOST}${detail}`)
  }
}

const HOST_LOST = 'the connection to the Java host was lost'

export function isHostLost(trace: string): boolean {
  return trace.includes(HOST_LOST)
}
