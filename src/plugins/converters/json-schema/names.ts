import { SUM_TYPE_NAMES } from '../../../java-compat/sum-type-names.ts'
import type { Schema } from '../../../sdk/index.ts'

/** Members of a JSON schema that hold Connect metadata, as Confluent's converter writes them. */
export const JSON_PROP = {
  type: 'connect.type',
  version: 'connect.version',
  parameters: 'connect.parameters',
  index: 'connect.index',
} as const

export const NAMESPACE = 'io.confluent.connect.json'
/** Name of a struct with one field for each schema of a `oneOf` or `anyOf`. */
export const ONE_OF = `${NAMESPACE}.OneOf`
/** Parameter of a string schema that represents an enum. One more parameter exists for each enum value. */
export const JSON_ENUM = `${NAMESPACE}.Enum`

export const KEY = 'key'
export const VALUE = 'value'
/** Represents null as an enum value. */
export const NULL_WORD = '<NULL>'

/** Whether a struct represents a union: exactly one field is set, and only its value is written. */
export function isChoice({ name, parameters }: Schema): boolean {
  return name === ONE_OF || parameters?.[SUM_TYPE_NAMES.union] !== undefined
}
