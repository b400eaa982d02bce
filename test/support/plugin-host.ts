import { createCatalog } from '../../src/plugins/catalog.ts'
import { toDescriptor } from '../../src/plugins/descriptor.ts'
import { SHIPPED } from '../../src/plugins/shipped.ts'
import type { Plugin } from '../../src/sdk/index.ts'
import { PluginExecutor } from '../../src/worker/isolation/plugin-executor.ts'
import { failureOf } from '../../src/worker/isolation/thrown.ts'
import { type PluginCall, type PluginHost, type PluginOutput, pluginError } from '../../src/worker/plugin-host.ts'

/** Calls plugins right here: for tests whose plugins do no harm. */
export function localPluginHost(plugins: readonly Plugin[] = SHIPPED): PluginHost {
  const executor = new PluginExecutor(plugins)
  return {
    catalog: createCatalog(plugins.map(toDescriptor)),
    async call<Operation extends PluginCall['operation']>(
      operation: Operation,
      plugin: PluginCall['plugin'],
      input: PluginCall['input'],
    ) {
      try {
        return (await executor.execute({ operation, plugin, input } as PluginCall)) as PluginOutput<Operation>
      } catch (error) {
        throw pluginError('plugin_failed', failureOf(error))
      }
    },
  }
}
