import type { Plugin } from '../../src/sdk/index.ts'
import { ALL_ACCESS, type ConnectorAccess } from '../../src/worker/host-access/connector-access.ts'
import type { PluginHost } from '../../src/worker/plugin-host.ts'
import { inThreadPluginHost } from './in-thread-plugin-host.ts'
import { SHIPPED } from './shipped-plugins.ts'

/** Calls plugins in this thread, for tests whose plugins are harmless. */
export function localPluginHost(
  plugins: readonly Plugin[] = SHIPPED,
  access: ConnectorAccess = ALL_ACCESS,
): PluginHost {
  return inThreadPluginHost(plugins, access)
}
