import { exportedPlugins } from '../../../../src/plugins/import-plugins.ts'
import { SHIPPED_MODULES } from '../../../../src/plugins/shipped-modules.ts'
import type { Plugin } from '../../../../src/sdk/index.ts'

// The other modules take a second to load.
const MODULES = ['converters/string', 'converters/simple-header/simple-header-converter']

const loading = MODULES.map(async (name) => exportedPlugins(await SHIPPED_MODULES[name]!()))

/** The converters that the connectors of these histories use. */
export const CONVERTERS: readonly Plugin[] = (await Promise.all(loading)).flat()
