import { messageOf } from '../../../common/errors.ts'
import { type Exact, isExactObject, jsonReader, parseExact } from '../../../java-compat/json/connect-json-reader.ts'
import { DataError, type Schema } from '../../../sdk/index.ts'

/** Throws a `DataError` with the place at which a text is not JSON of the schema, or has members that the schema lacks. */
export function checkEditedJson(schema: Schema | null, text: string): void {
  let json: Exact
  try {
    json = parseExact(text)
  } catch (error) {
    throw new DataError(`not JSON: ${messageOf(error)}`, { cause: error })
  }
  if (schema !== null) check(schema, json, '$')
}

function check(schema: Schema, json: Exact, path: string): void {
  const { type, fields = [], items, keys } = schema
  if (type === 'struct' && isExactObject(json)) {
    const unknown = Object.keys(json).find((member) => !fields.some((field) => field.name === member))
    if (unknown !== undefined) throw new DataError(`${path}.${unknown}: the schema has no such field`)
    for (const field of fields) check(field.schema, json[field.name], `${path}.${field.name}`)
  } else if (type === 'array' && items && Array.isArray(json)) {
    for (const [index, item] of json.entries()) check(items, item as Exact, `${path}[${index}]`)
  } else if (type === 'map' && items && keys?.type === 'string' && isExactObject(json)) {
    for (const [key, item] of Object.entries(json)) check(items, item, `${path}.${key}`)
  } else readAt(schema, json, path)
}

function readAt(schema: Schema, json: Exact, path: string): void {
  try {
    jsonReader(schema, { nullsToDefaults: false })(json)
  } catch (error) {
    throw new DataError(`${path}: ${messageOf(error)}`, { cause: error })
  }
}
