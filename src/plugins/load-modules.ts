import type { Plugin } from '../sdk/index.ts'
import { type Loaded, resolveConflicts } from './conflict-resolution.ts'
import { importPlugins } from './import-plugins.ts'
import { type Catalog, createCatalog, type PluginOrigin } from './plugin-catalog.ts'
import type { ShippedPlugin } from './shipped-plugins.ts'

/** A plugin, or one that ships, which is imported before it is used. */
export type KnownPlugin = (Plugin | ShippedPlugin) & PluginOrigin

/**
 * Creates the catalog for a thread that runs tasks: shipped plugins, modules that are known to load, and plugins from
 * elsewhere.
 */
export async function loadModules(
  shipped: readonly ShippedPlugin[],
  urls: readonly string[],
  others: readonly Loaded[] = [],
): Promise<Catalog<KnownPlugin>> {
  const loaded = await Promise.all(
    urls.map(async (url) => (await importPlugins(url)).map((plugin) => ({ file: url, plugin }))),
  )
  return createCatalog(resolveConflicts<KnownPlugin>(shipped, [...loaded.flat(), ...others]).plugins)
}
