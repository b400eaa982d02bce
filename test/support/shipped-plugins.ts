import { exportedPlugins } from '../../src/plugins/import-plugins.ts'
import { type Catalog, createCatalog } from '../../src/plugins/plugin-catalog.ts'
import { SHIPPED_MODULES } from '../../src/plugins/shipped-modules.ts'
import type { Plugin } from '../../src/sdk/index.ts'

const loading = Object.values(SHIPPED_MODULES).map(async (load) => exportedPlugins(await load()))

/** All plugins that ship with Weir. */
export const SHIPPED: readonly Plugin[] = (await Promise.all(loading)).flat()

export function shippedCatalog(): Catalog {
  return createCatalog(SHIPPED)
}
