import { compareMavenVersions } from '../java-compat/maven-version.ts'
import { parseVersionRequirement } from '../java-compat/maven-version-range.ts'
import type { Plugin } from '../sdk/index.ts'

export type PluginKind = Plugin['kind']

/** A plugin as listed by `GET /connector-plugins`, and where it was installed. */
export type CatalogEntry = {
  readonly class: string
  readonly type: PluginKind
  readonly version: string
} & PluginOrigin

/** Where a plugin that is not shipped comes from. */
export type PluginOrigin = {
  /** The file or directory on `plugin.path`; undefined for a shipped plugin. */
  readonly location?: string
  /** The shipped plugin that would otherwise be found by the name of this one. */
  readonly replaces?: string
}

/** A plugin or its descriptor. */
export type NamedPlugin = {
  readonly kind: PluginKind
  readonly class: string
  readonly aliases?: readonly string[]
  readonly version: string
} & PluginOrigin

/** Narrows `Item` to the types that can have this kind. */
export type OfKind<Item, Kind> = Item extends { readonly kind: infer Known }
  ? Kind extends Known
    ? Item
    : never
  : never

export type Catalog<Item extends NamedPlugin = Plugin> = {
  /**
   * Finds a plugin by one of its names. Case-sensitive. Of several versions, finds the newest one that meets the
   * requirement, which has the syntax of Kafka Connect's `plugin.version` keys; `latest` and undefined allow all, and an invalid one
   * none.
   */
  find<Kind extends PluginKind>(kind: Kind, name: string, requirement?: string): OfKind<Item, Kind> | undefined
  /** The versions that are installed under a name, the oldest first. */
  versionsOf(kind: PluginKind, name: string): readonly string[]
  /** Returns all names by which the plugin is found, including short names. */
  namesOf(plugin: Item): readonly string[]
  /** Returns why an installed plugin is not found by this name, or undefined. */
  refusal(kind: PluginKind, name: string): string | undefined
  /** Sorted by kind and name. */
  list(kind?: PluginKind): readonly CatalogEntry[]
}

/** The plugins of one class, the oldest version first. */
type Versions<Item> = readonly Item[]

/** Plugins with the same class are versions of it. Throws when different classes share a name. */
export function createCatalog<Item extends NamedPlugin>(plugins: readonly Item[]): Catalog<Item> {
  const classes = versionsByClass(plugins)
  const byName = new Map<string, Versions<Item>>()
  for (const versions of classes) {
    for (const plugin of versions) {
      for (const name of pluginNames(plugin)) {
        const key = nameKey(plugin.kind, name)
        const other = byName.get(key)
        if (other !== undefined && other !== versions) {
          throw new Error(
            `two plugins of kind ${plugin.kind} have the name '${name}': ${other[0]?.class}, ${plugin.class}`,
          )
        }
        byName.set(key, versions)
      }
    }
  }
  for (const [key, versions] of derivedNames(classes)) if (!byName.has(key)) byName.set(key, versions)
  const entries = classes.flat().map(toEntry)
  entries.sort((a, b) => compare(a.type, b.type) || compare(a.class, b.class))
  return {
    find: <Kind extends PluginKind>(kind: Kind, name: string, requirement?: string) =>
      newestOf(byName.get(nameKey(kind, name)) ?? [], requirement) as OfKind<Item, Kind> | undefined,
    versionsOf: (kind, name) => (byName.get(nameKey(kind, name)) ?? []).map(({ version }) => version),
    namesOf: (plugin) =>
      [...byName].flatMap(([key, found]) => (found.includes(plugin) ? [key.slice(plugin.kind.length + 1)] : [])),
    refusal: () => undefined,
    list: (kind) => entries.filter(({ type }) => kind === undefined || type === kind),
  }
}

function versionsByClass<Item extends NamedPlugin>(plugins: readonly Item[]): readonly Versions<Item>[] {
  const classes = Map.groupBy(plugins, (plugin) => nameKey(plugin.kind, plugin.class))
  return [...classes.values()].map((versions) =>
    versions.toSorted((a, b) => compareMavenVersions(a.version, b.version)),
  )
}

function newestOf<Item extends NamedPlugin>(
  versions: Versions<Item>,
  requirement: string | undefined,
): Item | undefined {
  if (requirement === undefined || requirement === 'latest') return versions.at(-1)
  try {
    const range = parseVersionRequirement(requirement)
    return versions.findLast(({ version }) => range.contains(version))
  } catch {
    return undefined
  }
}

function toEntry(plugin: NamedPlugin): CatalogEntry {
  const { kind, version, location, replaces } = plugin
  return {
    class: listedName(plugin),
    type: kind,
    version,
    ...(location !== undefined && { location }),
    ...(replaces !== undefined && { replaces }),
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
function derivedNames<Item extends NamedPlugin>(
  classes: readonly Versions<Item>[],
): ReadonlyMap<string, Versions<Item>> {
  const found = new Map<string, Set<Versions<Item>>>()
  for (const versions of classes) {
    for (const name of versions.flatMap(pluginNames)) {
      const simple = name.replace(/^.*\./, '')
      for (const short of [simple, simple.replace(/Connector$/, '')]) {
        const key = nameKey(versions[0]!.kind, short)
        found.set(key, (found.get(key) ?? new Set()).add(versions))
      }
    }
  }
  return new Map([...found].flatMap(([key, [versions, rival]]) => (versions && !rival ? [[key, versions]] : [])))
}

function nameKey(kind: PluginKind, name: string): string {
  return `${kind} ${name}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
