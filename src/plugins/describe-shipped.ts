import { exportedPlugins } from './import-plugins.ts'
import { toDescriptor } from './plugin-descriptor.ts'
import { SHIPPED_MODULES } from './shipped-modules.ts'

// Prints the descriptors of the shipped plugins: for the build, and for a checkout when its files have changed.

const plugins = await Promise.all(
  Object.entries(SHIPPED_MODULES).map(async ([module, load]) =>
    exportedPlugins(await load()).map((plugin) => ({ module, ...toDescriptor(plugin) })),
  ),
)
process.stdout.write(JSON.stringify(plugins.flat()))
