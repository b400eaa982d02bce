import { field, z } from '../../../sdk/index.ts'
import { registryFields } from '../registry-keys.ts'

const flag = (doc: string, fallback: boolean) => field.boolean({ doc, importance: 'LOW' }).default(fallback)

export const avroConverterConfig = z.object({
  ...registryFields,
  'connect.meta.data': field
    .boolean({
      doc: 'Write properties of Connect schemas that Avro does not have as connect.* members.',
      importance: 'LOW',
    })
    .default(true),
  'enhanced.avro.schema.support': field
    .boolean({ doc: 'Write strings that were read from an Avro enum as that enum.', importance: 'LOW' })
    .default(false),
  'scrub.invalid.names': flag('Replace invalid Avro names with valid ones: a-b becomes a_b, 1st becomes x1st.', false),
  'generalized.sum.type.support': flag(
    'Use the names of unions and enums in Connect that all schema formats share.',
    false,
  ),
  'ignore.default.for.nullables': flag('Write null as null even if the schema has a default.', false),
  'allow.optional.map.keys': flag(
    'Write maps whose keys are optional strings as maps, not as lists of entries.',
    false,
  ),
  'flatten.singleton.unions': flag('Read a union of one schema as that schema.', true),
  'discard.type.doc.default': flag('Keep documentation and defaults of fields only.', false),
})

export type AvroConverterSettings = z.infer<typeof avroConverterConfig>
