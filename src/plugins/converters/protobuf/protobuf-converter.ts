import { defineConverter } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { registryConverter } from '../lazy-registry-converter.ts'
import { REGISTRY_NOTES } from '../registry-keys.ts'
import { protobufConverterConfig } from './protobuf-converter-config.ts'

/** Reads and writes Protobuf in Confluent's wire format. Schemas are stored in a schema registry. */
export const protobufConverter = defineConverter({
  class: 'ProtobufConverter',
  aliases: ['io.confluent.connect.protobuf.ProtobufConverter'],
  version: SHIPPED_VERSION,
  summary: 'Converts to and from Protobuf, with the .proto files in a schema registry.',
  notes: `
A struct is converted to a proto3 message, logical types to \`google.protobuf.Timestamp\`, \`google.type.Date\`, \`google.type.TimeOfDay\` and
\`confluent.type.Decimal\`. Records have Confluent's wire format: a zero byte, the schema id, the index of the message, the data. Null in a field
that is neither optional nor wrapped is read as zero or as an empty value. A oneof is a struct in which one field has a value. Primitives are
written as google.protobuf wrappers. Arrays of arrays and recursive messages are rejected.
${REGISTRY_NOTES}
`,
  config: protobufConverterConfig,
  create: (settings, use) =>
    registryConverter(settings, use, async () => (await import('./protobuf-data.ts')).protobufData(settings)),
})
