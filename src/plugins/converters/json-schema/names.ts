/** The members of JSON schemas that hold what only Connect knows, as Confluent's converter has them. */
export const PROP = {
  type: 'connect.type',
  version: 'connect.version',
  parameters: 'connect.parameters',
  index: 'connect.index',
} as const

const NAMESPACE = 'io.confluent.connect.json'
/** A struct of this name has one field for each schema of a `oneOf` or `anyOf`. */
export const ONE_OF = `${NAMESPACE}.OneOf`
/** The parameter of strings that were an enum, with one more for each of its words. */
export const ENUM = `${NAMESPACE}.Enum`

export const KEY = 'key'
export const VALUE = 'value'
