import { field, z } from '../../../sdk/index.ts'
import { registryFields } from '../registry-keys.ts'

export const jsonSchemaConverterConfig = z.object({
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

export type JsonSchemaConverterSettings = z.infer<typeof jsonSchemaConverterConfig>
