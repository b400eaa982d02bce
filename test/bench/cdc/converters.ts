import { delimiter, join } from 'node:path'
import type { ConnectorProperties } from '../../../src/clients/worker-client.ts'
import { type Apicurio, startApicurio } from '../../env/apicurio.ts'
import { resolveJars } from '../../env/jars.ts'
import { copyJars } from '../java-plugins/cases.ts'

/** The names of the converter settings that can be measured, in the order of the table. */
const NAMES = ['json-schemas', 'json', 'avro'] as const
export type ConvertersName = (typeof NAMES)[number]

/** Converter settings of a connector, the same for both sides as far as the same converters exist for them. */
export type Converters = {
  readonly name: ConvertersName
  readonly title: string
  readonly ours: ConnectorProperties
  readonly debezium: ConnectorProperties
}

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter'
const APICURIO_CONVERTER = ['io.apicurio', 'apicurio-registry-utils-converter', '2.6.13.Final'] as const

/** `JsonConverter` with its schemas, which are its default. */
export const JSON_WITH_SCHEMAS: ConnectorProperties = forKeysAndValues({ '': JSON_CONVERTER })

/** Throws if a name is unknown. Without names: all. */
export function parseConverterNames(names: string | undefined): readonly ConvertersName[] {
  if (names === undefined) return NAMES
  const known: ReadonlySet<string> = new Set(NAMES)
  const chosen = names.split(',')
  const unknown = chosen.filter((name) => !known.has(name))
  if (unknown.length === 0) return chosen as ConvertersName[]
  throw new Error(`unknown converters ${unknown.join(', ')}: choose of ${NAMES.join(', ')}`)
}

/** Installs the converters that Kafka Connect does not have. */
export async function installConverters(names: readonly ConvertersName[], pluginPath: string): Promise<void> {
  if (!names.includes('avro')) return
  const jars = await resolveJars(APICURIO_CONVERTER.slice(1).join('-'), [APICURIO_CONVERTER])
  copyJars(join(pluginPath, 'apicurio-converter'), jars.split(delimiter))
}

/** The converter settings of a run, with the registry that Avro needs. */
export class ConverterChoice implements AsyncDisposable {
  readonly all: readonly Converters[]
  readonly #registry: Apicurio | undefined

  private constructor(all: readonly Converters[], registry: Apicurio | undefined) {
    this.all = all
    this.#registry = registry
  }

  static async start(names: readonly ConvertersName[]): Promise<ConverterChoice> {
    const registry = names.includes('avro') ? await startApicurio() : undefined
    return new ConverterChoice(
      names.map((name) => convertersOf(name, registry)),
      registry,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#registry?.stop()
  }
}

function convertersOf(name: ConvertersName, registry: Apicurio | undefined): Converters {
  switch (name) {
    case 'json-schemas':
      return { name, title: 'JSON with schemas', ours: JSON_WITH_SCHEMAS, debezium: JSON_WITH_SCHEMAS }
    case 'json': {
      const settings = forKeysAndValues({ '': JSON_CONVERTER, 'schemas.enable': 'false' })
      return { name, title: 'JSON', ours: settings, debezium: settings }
    }
    case 'avro':
      return { name, title: 'Avro', ...avroConverters(registry!.url) }
  }
}

/** Confluent's converter is not in Maven Central. Apicurio's writes the same bytes. Both use the same registry. */
function avroConverters(registryUrl: string): Pick<Converters, 'ours' | 'debezium'> {
  return {
    ours: forKeysAndValues({
      '': 'io.confluent.connect.avro.AvroConverter',
      'schema.registry.url': registryUrl,
    }),
    debezium: forKeysAndValues({
      '': 'io.apicurio.registry.utils.converter.AvroConverter',
      'apicurio.registry.url': new URL('/apis/registry/v2', registryUrl).href,
      'apicurio.registry.auto-register': 'true',
      'apicurio.registry.as-confluent': 'true',
    }),
  }
}

/** The same settings for the converters of keys and of values; the empty key is the class. */
function forKeysAndValues(settings: Readonly<Record<string, string>>): ConnectorProperties {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, value]) =>
      ['key', 'value'].map((part) => [key === '' ? `${part}.converter` : `${part}.converter.${key}`, value]),
    ),
  )
}
