import { UserError } from '../../config/errors.ts'
import { commaSeparated, settingsWithPrefix } from '../../config/settings.ts'
import { type Catalog, listedName, type OfKind, type PluginKind } from '../../plugins/catalog.ts'
import type { RawConfig } from '../../sdk/index.ts'
import {
  type ConnectRecord,
  type ConverterInstance,
  type HeaderConverterInstance,
  type HostAccess,
  type Plugin,
  parseConfig,
  UNRESTRICTED,
} from '../../sdk/index.ts'

/** What stands between a connector and its topics, as one task has it. */
export type RecordPipeline = {
  readonly key: PipelineStep<ConverterInstance>
  readonly value: PipelineStep<ConverterInstance>
  readonly headers: PipelineStep<HeaderConverterInstance>
  /** In the order of their aliases. */
  readonly transforms: readonly PipelineStep<TransformRecord>[]
}

/** A part with the full class name that people know it by. */
export type PipelineStep<Part> = { readonly className: string; readonly run: Part }
export type TransformRecord = <R extends ConnectRecord>(record: R) => R | null

const HEADER_CONVERTER = 'org.apache.kafka.connect.storage.SimpleHeaderConverter'

/**
 * What the connector configures may use what connectors may; a converter of the worker's own settings, what the worker may.
 * Throws a `ConfigError`, or a `UserError` for a plugin that is not here.
 */
export function createRecordPipeline(
  catalog: Catalog,
  config: RawConfig,
  workerDefaults: RawConfig,
  access: HostAccess,
): RecordPipeline {
  const converter = (role: 'key' | 'value'): PipelineStep<ConverterInstance> => {
    const name = `${role}.converter`
    const { className, settings } = roleConfig(name, config, workerDefaults)
    const plugin = findPlugin(catalog, 'converter', className)
    const own = config[name] === undefined ? UNRESTRICTED : access
    const run = plugin.create(parseConfig(plugin.config, settings), { ...own, isKey: role === 'key' })
    return { className: listedName(plugin), run }
  }
  return { key: converter('key'), value: converter('value'), headers: headerConverter(), transforms: transforms() }

  function headerConverter(): PipelineStep<HeaderConverterInstance> {
    const defaults = { 'header.converter': HEADER_CONVERTER, ...workerDefaults }
    const { className, settings } = roleConfig('header.converter', config, defaults)
    const plugin = findPlugin(catalog, 'header_converter', className)
    return { className: listedName(plugin), run: plugin.create(parseConfig(plugin.config, settings), access) }
  }

  function transforms(): readonly PipelineStep<TransformRecord>[] {
    return commaSeparated(config['transforms'] ?? '').map((alias) => createTransform(catalog, config, alias))
  }
}

/** A connector that names a converter brings all of its settings; the worker's are for the worker's converter. */
function roleConfig(role: string, config: RawConfig, defaults: RawConfig): { className: string; settings: RawConfig } {
  const from = config[role] === undefined ? defaults : config
  const className = from[role]
  if (className === undefined) throw new UserError('plugin_missing', `'${role}' is set neither here nor for the worker`)
  return { className, settings: settingsWithPrefix(`${role}.`, from) }
}

function createTransform(catalog: Catalog, config: RawConfig, alias: string): PipelineStep<TransformRecord> {
  const settings = settingsWithPrefix(`transforms.${alias}.`, config)
  const plugin = findPlugin(catalog, 'transformation', settings['type'] ?? '')
  const className = listedName(plugin)
  const run = plugin.create(parseConfig(plugin.config, settings))
  const predicateAlias = settings['predicate']
  if (predicateAlias === undefined) return { className, run }
  const applies = createPredicate(catalog, config, predicateAlias)
  const wanted = settings['negate']?.trim().toLowerCase() !== 'true'
  return { className, run: (record) => (applies(record) === wanted ? run(record) : record) }
}

function createPredicate(catalog: Catalog, config: RawConfig, alias: string): (record: ConnectRecord) => boolean {
  const settings = settingsWithPrefix(`predicates.${alias}.`, config)
  const plugin = findPlugin(catalog, 'predicate', settings['type'] ?? '')
  return plugin.create(parseConfig(plugin.config, settings))
}

function findPlugin<Kind extends PluginKind>(catalog: Catalog, kind: Kind, className: string): OfKind<Plugin, Kind> {
  const plugin = catalog.find(kind, className)
  if (plugin) return plugin
  const known = catalog.list(kind).map((entry) => entry.class)
  throw new UserError(
    'plugin_missing',
    `there is no ${kind} '${className}' here; there are ${known.join(', ') || 'none'}`,
  )
}
