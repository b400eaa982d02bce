import type { Plugin } from '../sdk/index.ts'

export type PluginKind = Plugin['kind']

/** A plugin as listed by `GET /connector-plugins`. */
export type CatalogEntry = { readonly class: string; readonly type: PluginKind; readonly version: string }

/** A plugin or its descriptor. */
export type NamedPlugin = {
  readonly kind: PluginKind
  readonly class: string
  readonly aliases?: readonly string[]
  readonly version: string
}

/** Narrows `Item` to the types that can have this kind. */
export type OfKind<Item, Kind> = Item extends { readonly kind: infer Known }
  ? Kind extends Known
    ? Item
    : never
  : never

export type Catalog<Item extends NamedPlugin = Plugin> = {
  /** Finds a plugin by one of its names. Case-sensitive. */
  find<Kind extends PluginKind>(kind: Kind, name: string): OfKind<Item, Kind> | undefined
  /** Returns all names by which the plugin is found, including short names. */
  namesOf(plugin: Item): readonly string[]
  /** Returns why an installed plugin is not found by this name, or undefined. */
  refusal(kind: PluginKind, name: string): string | undefined
  /** Sorted by kind and name. */
  list(kind?: PluginKind): readonly CatalogEntry[]
}

export function createCatalog<Item extends NamedPlugin>(plugins: readonly Item[]): Catalog<Item> {
  const byName = new Map<string, Item>()
  for (const plugin of plugins) {
    for (const name of pluginNames(plugin)) {
      const other = byName.get(nameKey(plugin.kind, name))
      if (other !== undefined && other !== plugin) {
        throw new Error(`two plugins of kind ${plugin.kind} answer to '${name}': ${other.class}, ${plugin.class}`)
      }
      byName.set(nameKey(plugin.kind, name), plugin)
    }
  }
  for (const [key, plugin] of derivedNames(plugins)) if (!byName.has(key)) byName.set(key, plugin)
  const entries = plugins.map((plugin) => ({
    class: listedName(plugin),
    type: plugin.kind,
    version: plugin.version,
  }))
  entries.sort((a, b) => compare(a.type, b.type) || compare(a.class, b.class))
  return {
    find: <Kind extends PluginKind>(kind: Kind, name: string) =>
      byName.get(nameKey(kind, name)) as OfKind<Item, Kind> | undefined,
    namesOf: (plugin) =>
      [...byName].flatMap(([key, found]) => (found === plugin ? [key.slice(plugin.kind.length + 1)] : [])),
    refusal: () => undefined,
    list: (kind) => entries.filter(({ type }) => kind === undefined || type === kind),
  }
}

/** Returns the Java class name if there is one, because tools identify the original connectors by it. */
export function listedName(plugin: Pick<NamedPlugin, 'class' | 'aliases'>): string {
  return plugin.aliases?.[0] ?? plugin.class
}

export function pluginNames(plugin: Pick<NamedPlugin, 'class' | 'aliases'>): readonly string[] {
  return [plugin.class, ...(plugin.aliases ?? [])]
}

/**
 * Derives short names as Kafka Connect does: without the package, and without `Connector`. A short name that several
 * plugins share is omitted.
 */
function derivedNames<Item extends NamedPlugin>(plugins: readonly Item[]): ReadonlyMap<string, Item> {
  const found = new Map<string, Set<Item>>()
  for (const plugin of plugins) {
    for (const name of pluginNames(plugin)) {
      const simple = name.replace(/^.*\./, '')
      for (const short of [simple, simple.replace(/Connector$/, '')]) {
        const key = nameKey(plugin.kind, short)
        found.set(key, (found.get(key) ?? new Set()).add(plugin))
      }
    }
  }
  return new Map([...found].flatMap(([key, [plugin, rival]]) => (plugin && !rival ? [[key, plugin]] : [])))
}

function nameKey(kind: PluginKind, name: string): string {
  return `${kind} ${name}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
