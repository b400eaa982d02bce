import { defineConverter } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../shipped-version.ts'
import { registryConverter } from '../lazy-registry-converter.ts'
import { REGISTRY_NOTES } from '../registry-keys.ts'
import { avroConverterConfig } from './avro-converter-config.ts'

/** Reads and writes Avro in Confluent's wire format. Schemas are stored in a schema registry. */
export const avroConverter = defineConverter({
  class: 'AvroConverter',
  aliases: ['io.confluent.connect.avro.AvroConverter'],
  version: SHIPPED_VERSION,
  summary: 'Converts to and from Avro, with the schemas in a schema registry.',
  notes: `
Connect schemas are converted to the same Avro schemas as by Confluent's converter, and records have its wire format: a zero byte, the schema
id, the data. The registry is queried once for each schema. Records without a schema and recursive Avro schemas are rejected.
${REGISTRY_NOTES}
`,
  config: avroConverterConfig,
  create: (settings, use) =>
    registryConverter(settings, use, async () => (await import('./avro-data.ts')).avroData(settings)),
})
