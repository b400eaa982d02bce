import { type ConverterInstance, defineConverter, field, z } from '../../../sdk/index.ts'
import { SHIPPED_VERSION } from '../../version.ts'
import { openRegistry, registryFields } from '../registry-access.ts'

const config = z.object({
  ...registryFields,
  'connect.meta.data': field
    .boolean({ doc: 'Keep what only Connect knows of a schema in connect.* members.', importance: 'LOW' })
    .default(true),
  'enhanced.avro.schema.support': field
    .boolean({ doc: 'Write strings that came from an Avro enum as that enum again.', importance: 'LOW' })
    .default(false),
})

export type AvroConverterSettings = z.infer<typeof config>

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
`,
  config,
  create: (settings, { isKey }) => {
    const registry = openRegistry(settings)
    return loadedWhenUsed(async () => (await import('./instance.ts')).createAvroInstance(registry, settings, isKey))
  },
})

/** The codec is most of what a task's thread would load before its first task, and few tasks have use for it. */
function loadedWhenUsed(load: () => Promise<ConverterInstance>): ConverterInstance {
  let loaded: ConverterInstance | undefined
  let loading: Promise<ConverterInstance> | undefined
  const instance = () => {
    loading ??= load().then((made) => {
      loaded = made
      return made
    })
    return loading
  }
  return {
    fromConnect: (...record) =>
      loaded ? loaded.fromConnect(...record) : instance().then((made) => made.fromConnect(...record)),
    toConnect: (...record) =>
      loaded ? loaded.toConnect(...record) : instance().then((made) => made.toConnect(...record)),
  }
}
