import { type Catalog, createCatalog } from './catalog.ts'
import { resolveConflicts } from './conflict-resolution.ts'
import { importPlugins } from './import-plugins.ts'
import { SHIPPED } from './shipped.ts'

/** Creates the catalog for a thread that runs tasks: shipped plugins, and modules that are known to load. */
export async function loadModules(urls: readonly string[]): Promise<Catalog> {
  const loaded = await Promise.all(
    urls.map(async (url) => (await importPlugins(url)).map((plugin) => ({ file: url, plugin }))),
  )
  return createCatalog(resolveConflicts(SHIPPED, loaded.flat()).plugins)
}
