import { type Loaded, resolveConflicts } from './conflict-resolution.ts'
import { importPlugins } from './import-plugins.ts'
import { type Catalog, createCatalog } from './plugin-catalog.ts'
import { SHIPPED } from './shipped-plugins.ts'

/**
 * Creates the catalog for a thread that runs tasks: shipped plugins, modules that are known to load, and plugins from
 * elsewhere.
 */
export async function loadModules(urls: readonly string[], others: readonly Loaded[] = []): Promise<Catalog> {
  const loaded = await Promise.all(
    urls.map(async (url) => (await importPlugins(url)).map((plugin) => ({ file: url, plugin }))),
  )
  return createCatalog(resolveConflicts(SHIPPED, [...loaded.flat(), ...others]).plugins)
}
