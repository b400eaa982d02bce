import { field, z } from '../../../sdk/index.ts'
import { registryFields } from '../registry-keys.ts'

export const jsonSchemaConverterConfig = z.object({
  ...registryFields,
  'object.additional.properties': field
    .boolean({ doc: 'Whether objects may have members that are not in the schema.' })
    .default(true),
  'use.optional.for.nonrequired': field
    .boolean({ doc: 'Whether to read members that are not required as optional.' })
    .default(false),
  'decimal.format': field
    .oneOf(['BASE64', 'NUMERIC'], { doc: 'Format of decimals: base64 of their bytes, or JSON numbers.' })
    .default('BASE64'),
  'ignore.default.for.nullables': field
    .boolean({ doc: 'Whether to write null as null even if the schema has a default.' })
    .default(false),
  'generalized.sum.type.support': field
    .boolean({
      doc: 'Whether to represent unions and enums in Connect schemas in the way that is common to all schema formats.',
      importance: 'LOW',
    })
    .default(false),
  'flatten.singleton.unions': field
    .boolean({
      doc: 'Whether to read a union with a single branch as that branch instead of as a struct.',
      importance: 'LOW',
    })
    .default(true),
  'json.fail.invalid.schema': field
    .boolean({ doc: 'Whether to validate data against the schema when writing and reading.', importance: 'LOW' })
    .default(false),
})

export type JsonSchemaConverterSettings = z.infer<typeof jsonSchemaConverterConfig>
