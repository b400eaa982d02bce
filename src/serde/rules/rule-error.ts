/** A rule of a schema cannot be executed. What happens then is the rule's `onFailure`. */
export class RuleError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RuleError'
  }
}
