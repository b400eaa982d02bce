import { type ConfigDefinition, describeConfig, type Plugin } from '../sdk/index.ts'

/** What is known of a plugin without its code: plain data that can be sent from where the plugin is loaded. */
export type PluginDescriptor = {
  readonly kind: Plugin['kind']
  readonly class: string
  readonly aliases: readonly string[]
  readonly version: string
  readonly summary: string
  readonly notes: string | undefined
  /** The keys of its own. */
  readonly definitions: readonly ConfigDefinition[]
  /** Whether a source can end its transactions itself. */
  readonly definesTransactions: boolean
  /** Whether the offsets of a source can be changed from outside. */
  readonly altersOffsets: boolean
}

export function toDescriptor(plugin: Plugin): PluginDescriptor {
  const { kind, class: name, aliases = [], version, summary, notes, config } = plugin
  return {
    kind,
    class: name,
    aliases,
    version,
    summary,
    notes,
    definitions: describeConfig(config),
    definesTransactions: kind === 'source' && plugin.definesTransactions === true,
    altersOffsets: kind === 'source' && plugin.alterOffsets !== undefined,
  }
}
