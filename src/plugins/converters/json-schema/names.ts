import { SHARED } from '../../../java-compat/shared-names.ts'
import type { Schema } from '../../../sdk/index.ts'

/** The members of JSON schemas that hold what only Connect knows, as Confluent's converter has them. */
export const JSON_PROP = {
  type: 'connect.type',
  version: 'connect.version',
  parameters: 'connect.parameters',
  index: 'connect.index',
} as const

export const NAMESPACE = 'io.confluent.connect.json'
/** A struct of this name has one field for each schema of a `oneOf` or `anyOf`. */
export const ONE_OF = `${NAMESPACE}.OneOf`
/** The parameter of strings that were an enum, with one more for each of its words. */
export const JSON_ENUM = `${NAMESPACE}.Enum`

export const KEY = 'key'
export const VALUE = 'value'
/** The word of an enum that is no text but null. */
export const NULL_WORD = '<NULL>'

/** Whether a struct is a choice of schemas, of which one field is there, and only its value is written. */
export function isChoice({ name, parameters }: Schema): boolean {
  return name === ONE_OF || parameters?.[SHARED.union] !== undefined
}
