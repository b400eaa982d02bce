import type { Plugin } from '../sdk/index.ts'
import { type Catalog, createCatalog, namesOf } from './catalog.ts'
import { discoverModules } from './discovery.ts'
import { importPlugins } from './module.ts'
import { SHIPPED } from './shipped.ts'

/** A file that plugins were expected in, or one of its plugins, and why it is not among them. */
export type PluginFault = { readonly file: string; readonly reason: string }

export type LoadedPlugins = {
  readonly catalog: Catalog
  /** URLs of the modules that plugins beside the shipped ones come from, for other threads. */
  readonly modules: readonly string[]
  readonly faults: readonly PluginFault[]
}

type Loaded = { readonly file: string; readonly plugin: Plugin }

/** Everything that ships and what `plugin.path` leads to. What is broken is told and left out. */
export async function loadPlugins(pluginPath: readonly string[]): Promise<LoadedPlugins> {
  const faults: PluginFault[] = []
  const modules: string[] = []
  const loaded: Loaded[] = []
  for (const found of discoverModules(pluginPath)) {
    const { file } = found
    if ('reason' in found) {
      faults.push(found)
      continue
    }
    try {
      for (const plugin of await importPlugins(found.url)) loaded.push({ file, plugin })
      modules.push(found.url)
    } catch (error) {
      faults.push({ file, reason: error instanceof Error ? error.message : String(error) })
    }
  }
  return { catalog: createCatalog([...SHIPPED, ...withoutRivals(loaded, faults)]), modules, faults }
}

/** The same for a thread, of modules that were loaded before. */
export async function loadModules(urls: readonly string[]): Promise<Catalog> {
  const loaded = await Promise.all(
    urls.map(async (url) => (await importPlugins(url)).map((plugin) => ({ file: url, plugin }))),
  )
  return createCatalog([...SHIPPED, ...withoutRivals(loaded.flat(), [])])
}

/** Of several versions of a plugin the newest; of others that want one name, the one that came first. */
function withoutRivals(loaded: readonly Loaded[], faults: PluginFault[]): readonly Plugin[] {
  const newest = newestOf(loaded)
  const taken = new Map(SHIPPED.flatMap((plugin) => keysOf(plugin).map((key) => [key, plugin] as const)))
  return loaded.flatMap(({ file, plugin }) => {
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
}

function newestOf(loaded: readonly Loaded[]): ReadonlyMap<string, Plugin> {
  const versions = new Intl.Collator('en', { numeric: true })
  const newest = new Map<string, Plugin>()
  for (const { plugin } of loaded) {
    const key = `${plugin.kind} ${plugin.class}`
    const known = newest.get(key)
    if (known === undefined || versions.compare(plugin.version, known.version) > 0) newest.set(key, plugin)
  }
  return newest
}

function keysOf(plugin: Plugin): readonly string[] {
  return namesOf(plugin).map((name) => `${plugin.kind} ${name}`)
}
