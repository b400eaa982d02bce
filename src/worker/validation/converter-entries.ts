import type { ConfigKeyInfo } from '../../clients/worker-client.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import type { RawConfig } from '../../sdk/index.ts'
import type { PluginHost } from '../plugin-host.ts'
import { type ConfigEntry, pluginEntries } from './config-entry.ts'

const ROLES = ['header', 'key', 'value'] as const

/**
 * The entries of the converters that the connector configures. The worker's own converters are validated with its
 * settings.
 */
export async function converterEntries(config: RawConfig, plugins: PluginHost): Promise<readonly ConfigEntry[]> {
  const blocks = ROLES.map(async (role) => {
    const name = `${role}.converter`
    const className = config[name]
    if (className === undefined) return []
    const kind = role === 'header' ? 'header_converter' : 'converter'
    const required = config[`${name}.plugin.version`]
    const converter = plugins.catalog.find(kind, className, required) ?? plugins.catalog.find(kind, className)
    if (!converter) return []
    const type = typeEntry(role)
    const settings = { [type.value.name]: role, ...settingsWithPrefix(`${name}.`, config) }
    const own = await pluginEntries(plugins, converter, settings)
    const definesType = own.some(({ value }) => value.name === type.value.name)
    return [...(definesType ? [] : [type]), ...own].map((entry) => prefixed(entry, `${name}.`))
  })
  return (await Promise.all(blocks)).flat()
}

/** Kafka's converters have this additional key, which defines whether they convert keys, values or headers. */
export const converterType: ConfigKeyInfo = {
  name: 'converter.type',
  type: 'STRING',
  required: true,
  default_value: null,
  importance: 'LOW',
  documentation: 'How this converter will be used.',
  group: null,
  order_in_group: -1,
  width: 'NONE',
  display_name: 'converter.type',
  dependents: [],
}

function typeEntry(role: string): ConfigEntry {
  const { name } = converterType
  return {
    definition: converterType,
    value: { name, value: role, recommended_values: [], errors: [], visible: true },
  }
}

function prefixed({ definition, value }: ConfigEntry, prefix: string): ConfigEntry {
  return {
    definition: definition && { ...definition, name: prefix + definition.name },
    value: { ...value, name: prefix + value.name },
  }
}
