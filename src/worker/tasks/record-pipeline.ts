import { UserError } from '../../common/errors.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import { type Catalog, listedName } from '../../plugins/plugin-catalog.ts'
import {
  type ConverterInstance,
  type HeaderConverterInstance,
  type HostAccess,
  parseConfig,
  type RawConfig,
  UNRESTRICTED,
} from '../../sdk/index.ts'
import { findPlugin } from './find-plugin.ts'
import { createTransformationChain, type TransformationChain } from './transformation-chain.ts'

/** The converters and transformations of one task, which each record passes between the connector and its topics. */
export type RecordPipeline = {
  readonly key: NamedConverter<ConverterInstance>
  readonly value: NamedConverter<ConverterInstance>
  readonly headers: NamedConverter<HeaderConverterInstance>
  readonly transformations: TransformationChain
}

/** A converter and the class name that is reported for it. */
type NamedConverter<Converter> = { readonly className: string; readonly converter: Converter }

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
  const createConverter = (role: 'key' | 'value'): NamedConverter<ConverterInstance> => {
    const name = `${role}.converter`
    const { className, version, settings } = converterConfig(name, config, workerDefaults)
    const plugin = findPlugin(catalog, 'converter', className, version)
    const { files, network } = config[name] === undefined ? UNRESTRICTED : access
    const converter = plugin.create(parseConfig(plugin.config, settings), { files, network, isKey: role === 'key' })
    return { className: listedName(plugin), converter }
  }
  const createHeaderConverter = (): NamedConverter<HeaderConverterInstance> => {
    const defaults = { 'header.converter': HEADER_CONVERTER, ...workerDefaults }
    const { className, version, settings } = converterConfig('header.converter', config, defaults)
    const plugin = findPlugin(catalog, 'header_converter', className, version)
    return { className: listedName(plugin), converter: plugin.create(parseConfig(plugin.config, settings), access) }
  }
  return {
    key: createConverter('key'),
    value: createConverter('value'),
    headers: createHeaderConverter(),
    transformations: createTransformationChain(catalog, config),
  }
}

/**
 * Selects the settings of a converter. A connector that names a converter must provide all of its settings: the
 * worker's settings apply to the worker's converter only.
 */
function converterConfig(
  name: string,
  config: RawConfig,
  defaults: RawConfig,
): { readonly className: string; readonly version: string | undefined; readonly settings: RawConfig } {
  const from = config[name] === undefined ? defaults : config
  const className = from[name]
  if (className === undefined)
    throw new UserError('plugin_missing', `'${name}' is set neither by the connector nor by the worker`)
  return { className, version: from[`${name}.plugin.version`], settings: settingsWithPrefix(`${name}.`, from) }
}
