import { UserError } from '../../config/errors.ts'
import type { PluginDescriptor } from '../../plugins/descriptor.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { notAllowed } from '../host-access/policy.ts'
import type { PluginCatalog } from '../plugin-host.ts'

export type ConnectorPlugin = PluginDescriptor & { readonly kind: 'source' | 'sink' }

/** The connector plugin that a configuration names; undefined when it is not installed. */
export function findConnector(plugins: PluginCatalog, config: RawConfig): ConnectorPlugin | undefined {
  const className = config['connector.class']?.trim() ?? ''
  return (plugins.find('source', className) ?? plugins.find('sink', className)) as ConnectorPlugin | undefined
}

/** The error for a configuration whose connector plugin is not found or not allowed. */
export function missingConnector(plugins: Pick<PluginCatalog, 'refusal'>, config: RawConfig): UserError {
  const className = config['connector.class']?.trim() ?? ''
  const refusal = plugins.refusal('source', className) ?? plugins.refusal('sink', className)
  if (refusal !== undefined) return notAllowed(`the connector '${className}' may not be used: ${refusal}`)
  const remedy = 'install its plugin, or correct connector.class'
  return new UserError('plugin_missing', `there is no connector '${className}' on this worker: ${remedy}`)
}
