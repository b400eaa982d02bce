import { defineConverter } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import { REGISTRY_NOTES } from '../registry-keys.ts'
import { registryConverter } from '../registry-loader.ts'
import { protobufConverterConfig } from './config.ts'

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
  config: protobufConverterConfig,
  create: (settings, use) =>
    registryConverter(settings, use, async () => (await import('./language.ts')).protobufLanguage(settings)),
})
