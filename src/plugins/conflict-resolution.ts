import type { Plugin } from '../sdk/index.ts'
import { pluginNames } from './catalog.ts'

/** A file that plugins were expected in, or one of its plugins, and why it is not among them. */
export type PluginFault = { readonly file: string; readonly reason: string }

type Named = Pick<Plugin, 'kind' | 'class' | 'aliases' | 'version'>

/** A plugin, or the description of one, and the file that it comes from. */
export type Loaded<Item extends Named = Plugin> = { readonly file: string; readonly plugin: Item }

/**
 * Which plugins can be used beside those that ship: of several versions of one the newest, and of others that share a name
 * the first.
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
