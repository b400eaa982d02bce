import { defineConverter, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import { REGISTRY_NOTES, registryFields } from '../registry-keys.ts'
import { registryConverter } from '../registry-loader.ts'

const flag = (doc: string, fallback: boolean) => field.boolean({ doc }).default(fallback)

const config = z.object({
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

export type ProtobufConverterSettings = z.infer<typeof config>

/** Protobuf with its .proto files in a registry, in Confluent's wire format. */
export const protobufConverter = defineConverter({
  class: 'ProtobufConverter',
  aliases: ['io.confluent.connect.protobuf.ProtobufConverter'],
  version: SHIPPED_VERSION,
  summary: 'Reads and writes Protobuf; its .proto files are kept in a schema registry.',
  notes: `
A struct becomes a message of proto3, its logical types \`google.protobuf.Timestamp\`, \`google.type.Date\`, \`google.type.TimeOfDay\`
and \`confluent.type.Decimal\`, and records have Confluent's wire format: a zero byte, the schema's id, which message it is, the
data. A null in a field that is neither optional nor wrapped is read as zero or nothing. A oneof is a struct of which one field is
there. Single values are written as google.protobuf wrappers; lists of lists and messages that contain themselves are refused.
${REGISTRY_NOTES}`,
  config,
  create: (settings, use) =>
    registryConverter(settings, use, async () => (await import('./language.ts')).protobufLanguage(settings)),
})
