import type { ConfigKeyInfo, ConfigValueInfo } from '../../clients/worker-client.ts'
import type { PluginDescriptor } from '../../plugins/plugin-descriptor.ts'
import type { RawConfig } from '../../sdk/index.ts'
import {
  type ConfigDefinition,
  describeConfig,
  isTypeProblem,
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

/**
 * The entries of a plugin's own keys. Other keys are passed to its code only if it reads keys that it does not define. With
 * `connects`, a connector also validates the configuration against its external system.
 */
export async function pluginEntries(
  host: PluginHost,
  plugin: PluginDescriptor,
  config: RawConfig,
  { connects }: { readonly connects: boolean } = { connects: false },
): Promise<readonly ConfigEntry[]> {
  const defined = plugin.definitions.flatMap(({ name }) => {
    const value = config[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const own = plugin.readsOtherKeys ? config : Object.fromEntries(defined)
  return toEntries(plugin.definitions, await host.call('validate-config', plugin, { config: own, connects }))
}

export function withError(entry: ConfigEntry, message: string): ConfigEntry {
  return { ...entry, value: { ...entry.value, errors: [...entry.value.errors, message] } }
}

/** An entry for each definition, and for other keys that have errors. */
function toEntries(definitions: readonly ConfigDefinition[], values: readonly ParsedValue[]): readonly ConfigEntry[] {
  const byName = new Map(values.map((value) => [value.name, value]))
  const defined = definitions.map((definition) => {
    const value = byName.get(definition.name) ?? { name: definition.name, value: null, errors: [] }
    byName.delete(definition.name)
    return { definition: toConfigKey(definition), value: toValueInfo(value, definition.recommended) }
  })
  const others = [...byName.values()].filter(({ errors }) => errors.length > 0)
  return [...defined, ...others.map((value) => ({ definition: null, value: toValueInfo(value, []) }))]
}

function toValueInfo(parsed: ParsedValue, recommended: readonly string[]): ConfigValueInfo {
  const { name, value, errors, visible = true } = parsed
  const shown = errors.some(isTypeProblem) ? null : value
  return { name, value: shown, recommended_values: parsed.recommended ?? recommended, errors, visible }
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
