import { exportedPlugins } from '../../src/plugins/import-plugins.ts'
import { type Catalog, createCatalog } from '../../src/plugins/plugin-catalog.ts'
import { SHIPPED_MODULES } from '../../src/plugins/shipped-modules.ts'
import type { Plugin } from '../../src/sdk/index.ts'

const loading = Object.entries(SHIPPED_MODULES).map(
  async ([path, load]) => [path, exportedPlugins(await load())] as const,
)

/** All plugins that ship with Weir, by module. */
export const SHIPPED_BY_MODULE: ReadonlyMap<string, readonly Plugin[]> = new Map(await Promise.all(loading))

export const SHIPPED: readonly Plugin[] = [...SHIPPED_BY_MODULE.values()].flat()

export function shippedCatalog(): Catalog {
  return createCatalog(SHIPPED)
}
