import { defineConverter, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import { REGISTRY_NOTES, registryFields } from '../registry-keys.ts'
import { registryConverter } from '../registry-loader.ts'

const config = z.object({
  ...registryFields,
  'object.additional.properties': field
    .boolean({ doc: 'Whether objects may have members that the schema does not name.' })
    .default(true),
  'use.optional.for.nonrequired': field
    .boolean({ doc: 'Whether members that are not required are read as optional.' })
    .default(false),
  'decimal.format': field
    .oneOf(['BASE64', 'NUMERIC'], { doc: 'How decimals are written: as base64 of their bytes, or as numbers.' })
    .default('BASE64'),
  'ignore.default.for.nullables': field
    .boolean({ doc: 'Write null where a value is null, also where its schema has a default.' })
    .default(false),
  'generalized.sum.type.support': field
    .boolean({ doc: 'Tell enums and choices by the parameters that all formats share.', importance: 'LOW' })
    .default(false),
  'flatten.singleton.unions': field
    .boolean({ doc: 'Whether a choice of one schema is read as that schema, and not as a struct.', importance: 'LOW' })
    .default(true),
  'json.fail.invalid.schema': field
    .boolean({ doc: 'Refuse data that the schema refuses, in both directions.', importance: 'LOW' })
    .default(false),
})

export type JsonSchemaConverterSettings = z.infer<typeof config>

/** JSON with its JSON Schema in a registry, in Confluent's wire format. */
export const jsonSchemaConverter = defineConverter({
  class: 'JsonSchemaConverter',
  aliases: ['io.confluent.connect.json.JsonSchemaConverter'],
  version: SHIPPED_VERSION,
  summary: 'Reads and writes JSON; its JSON Schema is kept in a schema registry.',
  notes: `
Connect's schemas become JSON schemas with the \`connect.*\` members of Confluent's converter, and records have its wire format: a
zero byte, the schema's id, the JSON. Schemas of others are read, too, with their references: \`oneOf\` null and another is
optional, other choices are a struct with a field for each. Records without a schema, schemas that contain themselves and
schemas that say nothing of their values are refused.
${REGISTRY_NOTES}`,
  config,
  create: (settings, use) =>
    registryConverter(settings, use, async () => (await import('./language.ts')).jsonLanguage(settings)),
})
