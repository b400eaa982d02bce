import type { ParsedSchema, SchemaSource } from '../../../formats/format.ts'
import { jsonFormat } from '../../../formats/json/json-schema-format.ts'
import { compileJsonSchema } from '../../../formats/json/meta-schema.ts'
import { readJsonSchema } from '../../../formats/json/read-json-schema.ts'
import { jsonReader, parseExact } from '../../../java-compat/json/connect-json-reader.ts'
import { jsonWriter } from '../../../java-compat/json/connect-json-writer.ts'
import { DataError } from '../../../sdk/index.ts'
import { frame } from '../../../serde/wire-format.ts'
import type { SchemaData } from '../registry-converter.ts'
import { fromJsonSchema } from './from-json-schema.ts'
import type { JsonSchemaConverterSettings } from './json-schema-converter-config.ts'
import { isChoice } from './names.ts'
import { toJsonSchemaText } from './to-json-schema.ts'

/** Converts between JSON with JSON Schema and Connect's schemas and values. */
export function jsonSchemaData(settings: JsonSchemaConverterSettings): SchemaData<ParsedSchema> {
  const decimals = settings['decimal.format']
  const generalized = settings['generalized.sum.type.support']
  const additional = settings['object.additional.properties']
  const checkOf = (source: SchemaSource) =>
    settings['json.fail.invalid.schema'] ? compileJsonSchema(source) : () => undefined
  return {
    name: 'JsonSchemaConverter',
    type: 'JSON',
    writesNulls: true,
    parse: (source, validation) => jsonFormat.parse(source, { validation }),
    toText: (schema) => toJsonSchemaText(schema, { additional, decimals, generalized }),
    writer(schema, { id, source }) {
      const write = jsonWriter(schema, {
        decimals,
        nullsToDefaults: !settings['ignore.default.for.nullables'],
        entries: 'objects',
        isChoice,
      })
      const check = checkOf(source)
      return (value) => {
        const text = write(value)
        refuse(check(JSON.parse(text)))
        return frame(id, Buffer.from(text))
      }
    },
    reader(_parsed, source, version) {
      // With exact numbers, which defaults and enums can have.
      const schema = fromJsonSchema(readJsonSchema(source, parseExact), {
        optionalUnlessRequired: settings['use.optional.for.nonrequired'],
        flattenSingletons: settings['flatten.singleton.unions'],
        generalized,
        version,
      })
      const read = jsonReader(schema, { nullsToDefaults: true, entries: 'objects', isChoice })
      const check = checkOf(source)
      return (bytes, start) => {
        const text = bytes.toString('utf8', start)
        const json = parsed(text)
        refuse(check(JSON.parse(text)))
        return { schema, value: read(json) }
      }
    },
  }
}

function parsed(text: string) {
  try {
    return parseExact(text)
  } catch (error) {
    throw new DataError(`the data is not JSON: ${(error as Error).message}`, { cause: error })
  }
}

function refuse(wrong: string | undefined): void {
  if (wrong !== undefined) throw new DataError(`the value is not valid for its schema: ${wrong}`)
}
