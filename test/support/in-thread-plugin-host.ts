import { createCatalog } from '../../src/plugins/plugin-catalog.ts'
import { toDescriptor } from '../../src/plugins/plugin-descriptor.ts'
import type { Plugin } from '../../src/sdk/index.ts'
import { restrictConnectors } from '../../src/worker/host-access/class-rules.ts'
import type { ConnectorAccess } from '../../src/worker/host-access/connector-access.ts'
import { findAmong, PluginExecutor } from '../../src/worker/isolation/plugins/plugin-executor.ts'
import { toPluginFailure } from '../../src/worker/isolation/plugins/plugin-failure.ts'
import { type PluginCall, type PluginHost, type PluginOutput, pluginError } from '../../src/worker/plugin-host.ts'

/** Calls these plugins in this thread. */
export function inThreadPluginHost(plugins: readonly Plugin[], access: ConnectorAccess): PluginHost {
  const executor = new PluginExecutor(findAmong(plugins), access, async () => createCatalog(plugins))
  return {
    catalog: restrictConnectors(createCatalog(plugins.map(toDescriptor)), access.classes),
    async call<Operation extends PluginCall['operation']>(
      operation: Operation,
      plugin: PluginCall['plugin'],
      input: PluginCall['input'],
    ) {
      try {
        return (await executor.execute({ operation, plugin, input } as PluginCall)) as PluginOutput<Operation>
      } catch (error) {
        throw pluginError('plugin_failed', toPluginFailure(error))
      }
    },
  }
}
