import type { Plugin } from '../sdk/index.ts'
import { pluginNames } from './catalog.ts'

/** A file or plugin on `plugin.path` that cannot be used, with the reason. */
export type PluginFault = { readonly file: string; readonly reason: string }

type Named = Pick<Plugin, 'kind' | 'class' | 'aliases' | 'version'>

/** A plugin, or its descriptor, and the file from which it was loaded. */
export type Loaded<Item extends Named = Plugin> = { readonly file: string; readonly plugin: Item }

/**
 * Selects the plugins that can be used besides the shipped ones: the newest of several versions, and the first of
 * plugins with different classes that share a name.
 */
export function resolveConflicts<Item extends Named>(
  shipped: readonly Item[],
  loaded: readonly Loaded<Item>[],
): { readonly plugins: readonly Item[]; readonly faults: readonly PluginFault[] } {
  const faults: PluginFault[] = []
  const newest = newestOf(loaded)
  const taken = new Map(shipped.flatMap((plugin) => keysOf(plugin).map((key) => [key, plugin] as const)))
  const plugins = loaded.flatMap(({ file, plugin }) => {
    const { kind, class: name, version } = plugin
    const best = newest.get(`${kind} ${name}`)
    const rival = keysOf(plugin).flatMap((key) => taken.get(key) ?? [])[0]
    if (best !== plugin) {
      faults.push({ file, reason: `${name} ${version}: version ${best?.version} is here, too, and is taken` })
      return []
    }
    if (rival !== undefined) {
      faults.push({ file, reason: `${name} answers to a name of ${rival.class}, which was here before` })
      return []
    }
    for (const key of keysOf(plugin)) taken.set(key, plugin)
    return [plugin]
  })
  return { plugins, faults }
}

function newestOf<Item extends Named>(loaded: readonly Loaded<Item>[]): ReadonlyMap<string, Item> {
  const versions = new Intl.Collator('en', { numeric: true })
  const newest = new Map<string, Item>()
  for (const { plugin } of loaded) {
    const key = `${plugin.kind} ${plugin.class}`
    const known = newest.get(key)
    if (known === undefined || versions.compare(plugin.version, known.version) > 0) newest.set(key, plugin)
  }
  return newest
}

function keysOf(plugin: Named): readonly string[] {
  return pluginNames(plugin).map((name) => `${plugin.kind} ${name}`)
}
