import { type Catalog, createCatalog } from './catalog.ts'
import { importPlugins } from './module.ts'
import { withoutRivals } from './selection.ts'
import { SHIPPED } from './shipped.ts'

/** The catalog of a thread that runs tasks: what ships, and modules that are known to load. */
export async function loadModules(urls: readonly string[]): Promise<Catalog> {
  const loaded = await Promise.all(
    urls.map(async (url) => (await importPlugins(url)).map((plugin) => ({ file: url, plugin }))),
  )
  return createCatalog([...SHIPPED, ...withoutRivals(SHIPPED, loaded.flat()).plugins])
}
