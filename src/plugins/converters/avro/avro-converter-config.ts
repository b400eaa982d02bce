import { field, z } from '../../../sdk/index.ts'
import { registryFields } from '../registry-keys.ts'

const flag = (doc: string, fallback: boolean) => field.boolean({ doc, importance: 'LOW' }).default(fallback)

export const avroConverterConfig = z.object({
  ...registryFields,
  'connect.meta.data': field
    .boolean({
      doc: 'Whether to write properties of Connect schemas that Avro does not have as members connect.*.',
      importance: 'LOW',
    })
    .default(true),
  'enhanced.avro.schema.support': field
    .boolean({ doc: 'Whether to write strings that were read from an Avro enum as that enum.', importance: 'LOW' })
    .default(false),
  'scrub.invalid.names': flag(
    'Whether to replace invalid Avro names with valid ones: a-b becomes a_b, 1st becomes x1st.',
    false,
  ),
  'generalized.sum.type.support': flag(
    'Whether to represent unions and enums in Connect schemas in the way that is common to all schema formats.',
    false,
  ),
  'ignore.default.for.nullables': flag('Whether to write null as null even if the schema has a default.', false),
  'allow.optional.map.keys': flag(
    'Whether to write maps with optional string keys as maps instead of arrays of entries.',
    false,
  ),
  'flatten.singleton.unions': flag('Whether to read a union with a single branch as that branch.', true),
  'discard.type.doc.default': flag(
    'Whether to discard the documentation and the default of types and to keep only those of fields.',
    false,
  ),
})

export type AvroConverterSettings = z.infer<typeof avroConverterConfig>
