import { field, z } from '../../../sdk/index.ts'
import { registryFields } from '../registry-keys.ts'

const flag = (doc: string, fallback: boolean) => field.boolean({ doc }).default(fallback)

export const protobufConverterConfig = z.object({
  ...registryFields,
  'enhanced.protobuf.schema.support': flag('Whether structs and enums have their names with the package.', false),
  'optional.for.nullables': flag(
    'Whether fields that may be null are written as optional, and only optional ones may be null.',
    false,
  ),
  'wrapper.for.nullables': flag(
    'Whether scalars that may be null are written as google.protobuf wrappers, and only those may be null.',
    false,
  ),
  'ignore.default.for.nullables': flag(
    'Write nothing where a value is null, also where its schema has a default.',
    false,
  ),
  'wrapper.for.raw.primitives': flag('Whether messages of google.protobuf wrappers are read as what is in them.', true),
  'generate.index.for.unions': flag('Whether the struct of a oneof has the number of the oneof in its name.', true),
  'int.for.enums': flag('Whether enums are their numbers instead of their words.', false),
})

export type ProtobufConverterSettings = z.infer<typeof protobufConverterConfig>
