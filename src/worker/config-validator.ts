import type { ConfigInfos, ConnectorProperties } from '../clients/worker-client.ts'
import { systemClock } from '../common/clock.ts'
import { silentLogger } from '../common/logging/logger.ts'
import type { Setting } from '../config/settings.ts'
import { findAnyConnector } from './configuration/connector-plugin.ts'
import { connectorAccess } from './host-access/connector-access-settings.ts'
import { hostAccess } from './host-access/host-access.ts'
import { pluginLimits } from './isolation/plugins/plugin-limits.ts'
import { ProcessPluginHost } from './isolation/plugins/process-plugin-host.ts'
import { workerSettings } from './settings.ts'
import { isExactlyOnce } from './startup/create-work-reconciler.ts'
import { converterDefaults, overridePolicyOf } from './startup/derived-settings.ts'
import { NO_PROGRAM_TOPICS, TopicPolicies } from './topic-access/topic-policies.ts'
import { validateUnresolved } from './validation/placeholder-validation.ts'
import { type ValidationContext, validateConnector } from './validation/validate-connector.ts'

/** Validates connector configurations without a worker, as one with these settings would. */
export type ConfigValidator = {
  /** Whether a plugin of this name is installed on this machine. */
  has(className: string): boolean
  /** The response of the `validate` endpoint; placeholders are not resolved. Rejects with a `WorkerError`. */
  validate(config: ConnectorProperties): Promise<ConfigInfos>
  close(): Promise<void>
}

/** Opens the shipped plugins and those of `pluginPath`. Their code runs in processes of its own. */
export async function openConfigValidator(
  pluginPath: readonly string[],
  written: readonly Setting[] = [],
): Promise<ConfigValidator> {
  const settings = workerSettings(written)
  const access = connectorAccess(settings)
  const limits = pluginLimits(settings.values)
  const plugins = await ProcessPluginHost.open({
    ...limits,
    pluginPath: [...limits.pluginPath, ...pluginPath],
    access,
    logger: silentLogger(),
    clock: systemClock,
  })
  const context: ValidationContext = {
    plugins,
    groupId: settings.values['group.id'],
    exactlyOnceSources: isExactlyOnce(settings),
    workerDefaults: converterDefaults(settings),
    overrides: overridePolicyOf(settings),
    access: hostAccess(access.host),
    topics: new TopicPolicies(settings, NO_PROGRAM_TOPICS, {}),
    isDataTopic: () => false,
  }
  return {
    has: (className) => findAnyConnector(plugins.catalog, { 'connector.class': className }) !== undefined,
    validate: (config) => validateUnresolved(config, (one, options) => validateConnector(one, context, options)),
    close: () => plugins.close(),
  }
}
