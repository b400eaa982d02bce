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

/** The converters and transforms of one task, which each record passes between the connector and its topics. */
export type RecordPipeline = {
  readonly key: PipelineStep<ConverterInstance>
  readonly value: PipelineStep<ConverterInstance>
  readonly headers: PipelineStep<HeaderConverterInstance>
  /** In the order of `transforms`. */
  readonly transforms: readonly PipelineStep<TransformRecord>[]
}

/** A plugin instance and the full class name that is reported for it. */
export type PipelineStep<Part> = { readonly className: string; readonly run: Part }
export type TransformRecord = <R extends ConnectRecord>(record: R) => R | null

const HEADER_CONVERTER = 'org.apache.kafka.connect.storage.SimpleHeaderConverter'

/**
 * Creates the pipeline of a task. Plugins from the connector's configuration get the connector's `access`; converters
 * from the worker's settings are unrestricted. Throws a `ConfigError` for invalid settings and a `UserError` for an
 * unknown plugin.
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

/**
 * Selects the settings of a converter. A connector that names a converter must provide all of its settings: the
 * worker's settings apply to the worker's converter only.
 */
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
