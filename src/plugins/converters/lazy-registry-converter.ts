import type { ParsedSchema } from '../../formats/format.ts'
import type { ConverterInstance, ConverterUse } from '../../sdk/index.ts'
import { openRegistry } from './registry-access.ts'
import type { SchemaData } from './registry-converter.ts'
import type { ConverterRegistrySettings } from './registry-keys.ts'

/**
 * Creates a converter that loads its schema format on first use. A format is most of the code that a task's thread
 * would otherwise load at start, and few tasks need one.
 */
export function registryConverter<Parsed extends ParsedSchema>(
  settings: ConverterRegistrySettings,
  { isKey, ...access }: ConverterUse,
  loadLanguage: () => Promise<SchemaData<Parsed>>,
): ConverterInstance {
  const registry = openRegistry(settings, access)
  return loadedWhenUsed(async () => {
    const [{ createRegistryConverter }, language] = await Promise.all([
      import('./registry-converter.ts'),
      loadLanguage(),
    ])
    return createRegistryConverter(registry, settings, isKey, language)
  })
}

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
    fromConnect: (topic, schema, value) =>
      loaded
        ? loaded.fromConnect(topic, schema, value)
        : instance().then((made) => made.fromConnect(topic, schema, value)),
    toConnect: (topic, bytes) =>
      loaded ? loaded.toConnect(topic, bytes) : instance().then((made) => made.toConnect(topic, bytes)),
  }
}
