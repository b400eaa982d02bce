import { defineConverter } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import { REGISTRY_NOTES } from '../registry-keys.ts'
import { registryConverter } from '../registry-loader.ts'
import { avroConverterConfig } from './config.ts'

/** Avro with its schemas in a registry, in Confluent's wire format. */
export const avroConverter = defineConverter({
  class: 'AvroConverter',
  aliases: ['io.confluent.connect.avro.AvroConverter'],
  version: SHIPPED_VERSION,
  summary: 'Reads and writes Avro; schemas are kept in a schema registry.',
  notes: `
Connect's schemas become the Avro schemas that Confluent's converter makes of them, and records have its wire format: a zero
byte, the schema's id, the data. The registry is asked once for each schema. Records without a schema and Avro schemas that
contain themselves are refused.
${REGISTRY_NOTES}`,
  config: avroConverterConfig,
  create: (settings, use) =>
    registryConverter(settings, use, async () => (await import('./language.ts')).avroLanguage(settings)),
})
