import { type ConfigDefinition, describeConfig, type OtherKeys, type Plugin, readsOtherKeys } from '../sdk/index.ts'

/**
 * Describes a plugin without its code. Plain data that can be sent from the thread or process that loaded the plugin.
 */
export type PluginDescriptor = {
  readonly kind: Plugin['kind']
  readonly class: string
  readonly aliases: readonly string[]
  readonly version: string
  readonly summary: string
  readonly notes: string | undefined
  /** The configuration keys defined by the plugin. */
  readonly definitions: readonly ConfigDefinition[]
  /** Whether changes of offsets through the REST API are passed to the connector. */
  readonly altersOffsets: boolean
  /** Whether the plugin reads keys that it does not define. */
  readonly readsOtherKeys: boolean
  /** What is known about keys that it does not define; undefined: any of them may be read. */
  readonly otherKeys?: OtherKeys
}

export function toDescriptor(plugin: Plugin): PluginDescriptor {
  const { kind, class: name, aliases = [], version, summary, notes, config, otherKeys } = plugin
  return {
    kind,
    class: name,
    aliases,
    version,
    summary,
    notes,
    definitions: describeConfig(config),
    altersOffsets: kind === 'source' && plugin.alterOffsets !== undefined,
    readsOtherKeys: readsOtherKeys(config),
    ...(otherKeys !== undefined && { otherKeys }),
  }
}
