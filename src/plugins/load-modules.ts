import { type Loaded, resolveConflicts } from './conflict-resolution.ts'
import { importPlugins } from './import-plugins.ts'
import type { KnownPlugin } from './lazy-catalog.ts'
import { type Catalog, createCatalog } from './plugin-catalog.ts'
import type { ShippedPlugins } from './shipped-plugins.ts'

/**
 * Creates the catalog for a thread that runs tasks: shipped plugins, modules that are known to load, and plugins from
 * elsewhere.
 */
export async function loadModules(
  shipped: Pick<ShippedPlugins, 'descriptors'>,
  urls: readonly string[],
  others: readonly Loaded[] = [],
): Promise<Catalog<KnownPlugin>> {
  const loaded = await Promise.all(
    urls.map(async (url) => (await importPlugins(url)).map((plugin) => ({ file: url, plugin }))),
  )
  return createCatalog(resolveConflicts<KnownPlugin>(shipped.descriptors, [...loaded.flat(), ...others]).plugins)
}
