import type { ConfigKeyInfo, ConfigValueInfo } from '../../clients/worker.ts'
import type { PluginDescriptor } from '../../plugins/descriptor.ts'
import type { RawConfig } from '../../sdk/index.ts'
import {
  type ConfigDefinition,
  describeConfig,
  type ConfigValue as ParsedValue,
  validateConfig,
  type z,
} from '../../sdk/index.ts'
import type { PluginHost } from '../plugin-host.ts'

/** A configuration key: its definition, and its value with the errors. */
export type ConfigEntry = { readonly definition: ConfigKeyInfo | null; readonly value: ConfigValueInfo }

/** The entries of the keys that all connectors share. */
export function configEntries(spec: z.ZodObject, config: RawConfig): readonly ConfigEntry[] {
  return toEntries(describeConfig(spec), validateConfig(spec, config))
}

/** The entries of a plugin's own keys. Values of other keys are not passed to the plugin's code. */
export async function pluginEntries(
  host: PluginHost,
  plugin: PluginDescriptor,
  config: RawConfig,
): Promise<readonly ConfigEntry[]> {
  const own = plugin.definitions.flatMap(({ name }) => {
    const value = config[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return toEntries(plugin.definitions, await host.call('validate-config', plugin, { config: Object.fromEntries(own) }))
}

export function withError(entry: ConfigEntry, message: string): ConfigEntry {
  return { ...entry, value: { ...entry.value, errors: [...entry.value.errors, message] } }
}

function toEntries(definitions: readonly ConfigDefinition[], values: readonly ParsedValue[]): readonly ConfigEntry[] {
  return definitions.map((definition, index) => {
    const { value, errors } = values[index] ?? { value: null, errors: [] }
    const shown = errors.some(isUnparsed) ? null : value
    const { name, recommended } = definition
    return {
      definition: toConfigKey(definition),
      value: { name, value: shown, recommended_values: recommended, errors, visible: true },
    }
  })
}

export function toConfigKey(definition: ConfigDefinition): ConfigKeyInfo {
  const { name, type, required, defaultValue, importance, documentation, group, order, width, displayName } = definition
  return {
    name,
    type,
    required,
    default_value: defaultValue,
    importance,
    documentation,
    group,
    order_in_group: order,
    width,
    display_name: displayName,
    dependents: [],
  }
}

/** Whether the value could not be converted to the key's type; it is then shown as null. */
function isUnparsed(message: string): boolean {
  return / (Not a number of type [A-Z]+|Expected value to be either true or false)$/.test(message)
}
