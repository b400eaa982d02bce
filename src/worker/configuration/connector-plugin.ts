import { UserError } from '../../common/errors.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import type { Catalog, NamedPlugin } from '../../plugins/plugin-catalog.ts'
import type { PluginDescriptor } from '../../plugins/plugin-descriptor.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { notAllowed } from '../host-access/host-access-policy.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { versionProblem } from './plugin-version.ts'

export type ConnectorPlugin = PluginDescriptor & { readonly kind: 'source' | 'sink' }

/** The connector plugin that a configuration names, in the version that it requires; undefined when it is not installed. */
export function findConnector(plugins: PluginCatalog, config: RawConfig): ConnectorPlugin | undefined {
  return findVersion(plugins, config, config['connector.plugin.version'])
}

/** Like `findConnector`, in the newest version: for what does not depend on the version, such as its kind. */
export function findAnyConnector(plugins: PluginCatalog, config: RawConfig): ConnectorPlugin | undefined {
  return findVersion(plugins, config, undefined)
}

function findVersion(plugins: PluginCatalog, config: RawConfig, version?: string): ConnectorPlugin | undefined {
  const className = trimAsJava(config['connector.class'] ?? '')
  const found = plugins.find('source', className, version) ?? plugins.find('sink', className, version)
  return found as ConnectorPlugin | undefined
}

/** Why a connector is installed, but not in the version that its configuration requires. */
export function connectorVersionProblem<Item extends NamedPlugin>(
  plugins: Pick<Catalog<Item>, 'find' | 'versionsOf'>,
  config: RawConfig,
): string | undefined {
  const className = trimAsJava(config['connector.class'] ?? '')
  const version = config['connector.plugin.version']
  return versionProblem(plugins, 'source', className, version) ?? versionProblem(plugins, 'sink', className, version)
}

/** The error for a configuration whose connector plugin is not found or not allowed. */
export function missingConnector<Item extends NamedPlugin>(
  plugins: Pick<Catalog<Item>, 'find' | 'versionsOf' | 'refusal'>,
  config: RawConfig,
): UserError {
  const className = trimAsJava(config['connector.class'] ?? '')
  const refusal = plugins.refusal('source', className) ?? plugins.refusal('sink', className)
  if (refusal !== undefined) return notAllowed(`the connector '${className}' may not be used: ${refusal}`)
  const problem = connectorVersionProblem(plugins, config)
  if (problem !== undefined) return new UserError('plugin_missing', problem)
  const remedy = 'install its plugin, or correct connector.class'
  return new UserError('plugin_missing', `there is no connector '${className}' on this worker: ${remedy}`)
}
