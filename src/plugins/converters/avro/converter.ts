import { defineConverter, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import { REGISTRY_NOTES, registryFields } from '../registry-keys.ts'
import { registryConverter } from '../registry-loader.ts'

const flag = (doc: string, fallback: boolean) => field.boolean({ doc, importance: 'LOW' }).default(fallback)

const config = z.object({
  ...registryFields,
  'connect.meta.data': field
    .boolean({ doc: 'Keep what only Connect knows of a schema in connect.* members.', importance: 'LOW' })
    .default(true),
  'enhanced.avro.schema.support': field
    .boolean({ doc: 'Write strings that came from an Avro enum as that enum again.', importance: 'LOW' })
    .default(false),
  'scrub.invalid.names': flag('Make names of what Avro does not take for one: a-b becomes a_b, 1st x1st.', false),
  'generalized.sum.type.support': flag(
    'Unions and enums have the names in Connect that all schema languages share.',
    false,
  ),
  'ignore.default.for.nullables': flag('Write null for null where the schema has a default.', false),
  'allow.optional.map.keys': flag(
    'Write maps whose keys are optional strings as maps, not as lists of entries.',
    false,
  ),
  'flatten.singleton.unions': flag('Read a union of one schema as that schema.', true),
  'discard.type.doc.default': flag('Of documentation and defaults keep only those of fields.', false),
})

export type AvroConverterSettings = z.infer<typeof config>

/** Avro with its schemas in a registry, in Confluent's wire format. */
export const avroConverter = defineConverter({
  class: 'AvroConverter',
  aliases: ['io.confluent.connect.avro.AvroConverter'],
  version: SHIPPED_VERSION,
  summary: 'Reads and writes Avro; schemas are kept in a schema registry.',
  notes: `
Connect's schemas become the Avro schemas that Confluent's converter makes of them, and records have its wire format: a zero
byte, the schema's id, the data. The registry is asked once for each schema. Records without a schema and Avro schemas that
contain themselves are refused.
${REGISTRY_NOTES}`,
  config,
  create: (settings, use) =>
    registryConverter(settings, use, async () => (await import('./language.ts')).avroLanguage(settings)),
})
