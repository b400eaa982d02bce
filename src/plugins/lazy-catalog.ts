import type { Plugin } from '../sdk/index.ts'
import type { Catalog, CatalogEntry, NamedPlugin, OfKind, PluginKind, PluginOrigin } from './plugin-catalog.ts'
import type { PluginDescriptor } from './plugin-descriptor.ts'
import type { ShippedPlugins } from './shipped-plugins.ts'

/** A plugin, or the descriptor of one that ships. */
export type KnownPlugin = (Plugin | PluginDescriptor) & PluginOrigin

/** A catalog whose shipped plugins are loaded before they are used. */
export class LazyCatalog implements Catalog {
  readonly #known: Catalog<KnownPlugin>
  readonly #shipped: Pick<ShippedPlugins, 'load'>
  readonly #loaded = new Map<KnownPlugin, Plugin>()

  constructor(known: Catalog<KnownPlugin>, shipped: Pick<ShippedPlugins, 'load'>) {
    this.#known = known
    this.#shipped = shipped
  }

  /** Loads the plugin that `find` would return, if there is one. */
  async load(kind: PluginKind, name: string, requirement?: string): Promise<void> {
    const known: KnownPlugin | undefined = this.#known.find(kind, name, requirement)
    if (known === undefined || isLoaded(known) || this.#loaded.has(known)) return
    const plugin = await this.#shipped.load(known)
    // Under the names that installed plugins have left to it.
    if (plugin) this.#loaded.set(known, { ...plugin, aliases: known.aliases } as Plugin)
  }

  find<Kind extends PluginKind>(kind: Kind, name: string, requirement?: string): OfKind<Plugin, Kind> | undefined {
    const known: KnownPlugin | undefined = this.#known.find(kind, name, requirement)
    if (known === undefined) return undefined
    const plugin = isLoaded(known) ? known : this.#loaded.get(known)
    if (plugin === undefined) throw new Error(`the shipped plugin ${known.class} is used before it was loaded`)
    return plugin as OfKind<Plugin, Kind>
  }

  versionsOf(kind: PluginKind, name: string): readonly string[] {
    return this.#known.versionsOf(kind, name)
  }

  namesOf({ kind, class: name, version }: NamedPlugin): readonly string[] {
    const known: KnownPlugin | undefined = this.#known.find(kind, name, version)
    return known === undefined ? [] : this.#known.namesOf(known)
  }

  refusal(kind: PluginKind, name: string): string | undefined {
    return this.#known.refusal(kind, name)
  }

  list(kind?: PluginKind): readonly CatalogEntry[] {
    return this.#known.list(kind)
  }
}

function isLoaded(known: KnownPlugin): known is Plugin & PluginOrigin {
  return 'config' in known
}
