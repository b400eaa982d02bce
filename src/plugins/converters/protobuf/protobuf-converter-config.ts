import { field, z } from '../../../sdk/index.ts'
import { registryFields } from '../registry-keys.ts'

const flag = (doc: string, fallback: boolean) => field.boolean({ doc }).default(fallback)

export const protobufConverterConfig = z.object({
  ...registryFields,
  'enhanced.protobuf.schema.support': flag('Whether names of structs and enums include the package.', false),
  'optional.for.nullables': flag(
    'Whether nullable fields are written as optional, and only optional fields are nullable.',
    false,
  ),
  'wrapper.for.nullables': flag(
    'Whether nullable scalars are written as google.protobuf wrappers, and only those are nullable.',
    false,
  ),
  'ignore.default.for.nullables': flag(
    'Whether to omit a field whose value is null even if its schema has a default.',
    false,
  ),
  'wrapper.for.raw.primitives': flag(
    'Whether messages of google.protobuf wrappers are read as the scalars that they contain.',
    true,
  ),
  'generate.index.for.unions': flag(
    'Whether the name of the struct of a oneof contains the number of the oneof.',
    true,
  ),
  'int.for.enums': flag('Whether enums are read as numbers instead of names.', false),
})

export type ProtobufConverterSettings = z.infer<typeof protobufConverterConfig>
