import { field, z } from '../../../sdk/index.ts'
import { registryFields } from '../registry-keys.ts'

const flag = (doc: string, fallback: boolean) => field.boolean({ doc, importance: 'LOW' }).default(fallback)

export const avroConverterConfig = z.object({
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

export type AvroConverterSettings = z.infer<typeof avroConverterConfig>
