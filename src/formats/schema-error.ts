/** An invalid schema, or a value that does not match its schema. */
export class SchemaError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SchemaError'
  }
}
