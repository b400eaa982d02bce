import { defineConverter } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { registryConverter } from '../lazy-registry-converter.ts'
import { REGISTRY_NOTES } from '../registry-keys.ts'
import { jsonSchemaConverterConfig } from './json-schema-converter-config.ts'

/** Reads and writes JSON in Confluent's wire format. JSON schemas are stored in a schema registry. */
export const jsonSchemaConverter = defineConverter({
  class: 'JsonSchemaConverter',
  aliases: ['io.confluent.connect.json.JsonSchemaConverter'],
  version: SHIPPED_VERSION,
  summary: 'Converts to and from JSON, with the JSON Schema in a schema registry.',
  notes: `
Connect schemas are converted to JSON schemas with the \`connect.*\` members of Confluent's converter, and records have its wire format: a zero
byte, the schema id, the JSON. Schemas from other producers, with references, are also read: \`oneOf\` of null and another schema is an optional
schema, another union is a struct with a field for each branch. Records without a schema, recursive schemas and schemas without a type are
rejected.
${REGISTRY_NOTES}
`,
  config: jsonSchemaConverterConfig,
  create: (settings, use) =>
    registryConverter(settings, use, async () => (await import('./json-schema-data.ts')).jsonSchemaData(settings)),
})
