import type { ConfigKeyInfo } from '../../clients/worker-client.ts'
import type { PluginKind } from '../../plugins/plugin-catalog.ts'
import type { PluginDescriptor } from '../../plugins/plugin-descriptor.ts'
import { describeConfig, type z } from '../../sdk/index.ts'
import { commonKeys, sinkKeys, sourceKeys } from '../configuration/connector-keys.ts'
import { versionProblem } from '../configuration/plugin-version.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { toConfigKey } from './config-entry.ts'
import { converterType } from './converter-entries.ts'

const KINDS: readonly PluginKind[] = ['sink', 'source', 'converter', 'header_converter', 'transformation', 'predicate']

/**
 * All keys of a plugin: its own, and then those that all plugins of its kind have. Throws a `WorkerError` when the
 * plugin is unknown or has another version.
 */
export function describePlugin(name: string, plugins: PluginCatalog, version?: string): readonly ConfigKeyInfo[] {
  const latest = KINDS.map((kind) => plugins.find(kind, name)).find((found) => found !== undefined)
  const plugin = latest && (plugins.find(latest.kind, name, version) ?? latest)
  if (!plugin) throw new WorkerError('plugin_not_found', `Unknown plugin ${name}.`)
  const problem = versionProblem(plugins, plugin.kind, name, version)
  if (problem !== undefined) throw new WorkerError('invalid_request', problem)
  const defined = plugin.definitions.map(toConfigKey)
  const definesType = plugin.kind !== 'converter' || defined.some(({ name: key }) => key === converterType.name)
  const own = definesType ? defined : [converterType, ...defined]
  const names = new Set(own.map((key) => key.name))
  const common = commonOf(plugin).filter((key) => !names.has(key.name))
  return [...own, ...common]
}

function commonOf(plugin: PluginDescriptor): readonly ConfigKeyInfo[] {
  switch (plugin.kind) {
    case 'source':
      return withVersion(plugin, [...keysOf(commonKeys), ...keysOf(sourceKeys)])
    case 'sink':
      return withVersion(plugin, [...keysOf(commonKeys), ...keysOf(sinkKeys)])
    case 'converter':
    case 'header_converter':
    case 'transformation':
    case 'predicate':
    case 'provider':
      return []
  }
}

function withVersion({ version }: PluginDescriptor, keys: readonly ConfigKeyInfo[]): readonly ConfigKeyInfo[] {
  return keys.map((key) => (key.name === 'connector.plugin.version' ? { ...key, default_value: version } : key))
}

function keysOf(spec: z.ZodObject): readonly ConfigKeyInfo[] {
  return describeConfig(spec).map(toConfigKey)
}
