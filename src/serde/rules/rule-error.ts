/** A rule of a schema cannot be executed. The rule's `onFailure` action applies. */
export class RuleError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RuleError'
  }
}
