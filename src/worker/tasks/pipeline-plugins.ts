import { UserError } from '../../common/errors.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import type { PluginKind } from '../../plugins/plugin-catalog.ts'
import { field, type RawConfig } from '../../sdk/index.ts'

/** A plugin as a configuration names it, with its settings. */
export type ConfiguredPlugin<Kind extends PluginKind = PluginKind> = {
  readonly kind: Kind
  readonly className: string
  /** The required version. */
  readonly version: string | undefined
  readonly settings: RawConfig
}

export type ConfiguredTransformation = ConfiguredPlugin<'transformation'> & {
  readonly predicate: (ConfiguredPlugin<'predicate'> & { readonly isNegated: boolean }) | undefined
}

/** `isOfConnector` is false for a converter of the worker's settings. */
export type ConfiguredConverter<Kind extends PluginKind = 'converter'> = ConfiguredPlugin<Kind> & {
  readonly isOfConnector: boolean
}

/** The plugins of a pipeline. */
export type PipelinePlugins = {
  readonly transformations: readonly ConfiguredTransformation[]
  readonly key: ConfiguredConverter
  readonly value: ConfiguredConverter
  readonly headers: ConfiguredConverter<'header_converter'>
}

export const SIMPLE_HEADER_CONVERTER = 'org.apache.kafka.connect.storage.SimpleHeaderConverter'

/** Throws a `UserError` when neither the connector nor the worker names a converter. */
export function pipelinePlugins(config: RawConfig, workerDefaults: RawConfig): PipelinePlugins {
  const { key, value, headers } = configuredConverters(config, workerDefaults)
  return {
    transformations: configuredTransformations(config),
    key: key ?? missingConverter('key'),
    value: value ?? missingConverter('value'),
    headers: headers ?? missingConverter('header'),
  }
}

/** The connector and the plugins of its pipeline. The first one of Java is that whose JVM the task uses. */
export function taskPlugins(
  kind: 'source' | 'sink',
  config: RawConfig,
  workerDefaults: RawConfig,
): readonly ConfiguredPlugin[] {
  const connector: ConfiguredPlugin = {
    kind,
    className: config['connector.class'] ?? '',
    version: config['connector.plugin.version'],
    settings: config,
  }
  const { key, value, headers } = configuredConverters(config, workerDefaults)
  const transformations = configuredTransformations(config)
  const plugins = [connector, ...transformations.flatMap((one) => [one, one.predicate]), key, value, headers]
  return plugins.filter((plugin) => plugin !== undefined)
}

function configuredConverters(config: RawConfig, workerDefaults: RawConfig) {
  const headerDefaults = { 'header.converter': SIMPLE_HEADER_CONVERTER, ...workerDefaults }
  return {
    key: configuredConverter('converter', 'key.converter', config, workerDefaults),
    value: configuredConverter('converter', 'value.converter', config, workerDefaults),
    headers: configuredConverter('header_converter', 'header.converter', config, headerDefaults),
  }
}

function missingConverter(role: 'key' | 'value' | 'header'): never {
  throw new UserError('plugin_missing', `'${role}.converter' is set neither by the connector nor by the worker`)
}

/** The transformations of a connector, in the order of `transforms`. */
export function configuredTransformations(config: RawConfig): readonly ConfiguredTransformation[] {
  return field.listItems(config['transforms'] ?? '').map((alias) => {
    const { predicate, negate, ...settings } = settingsWithPrefix(`transforms.${alias}.`, config)
    const isNegated = trimAsJava(negate ?? '').toLowerCase() === 'true'
    return {
      ...reference('transformation', settings),
      predicate:
        predicate === undefined
          ? undefined
          : { ...reference('predicate', settingsWithPrefix(`predicates.${predicate}.`, config)), isNegated },
    }
  })
}

function reference<Kind extends PluginKind>(kind: Kind, settings: RawConfig): ConfiguredPlugin<Kind> {
  return { kind, className: settings['type'] ?? '', version: settings['plugin.version'], settings }
}

/**
 * Selects the settings of a converter. A connector that names a converter must provide all of its settings: the
 * worker's settings apply to the worker's converter only.
 */
function configuredConverter<Kind extends PluginKind>(
  kind: Kind,
  name: string,
  config: RawConfig,
  defaults: RawConfig,
): ConfiguredConverter<Kind> | undefined {
  const isOfConnector = config[name] !== undefined
  const from = isOfConnector ? config : defaults
  const className = from[name]
  if (className === undefined) return undefined
  const version = from[`${name}.plugin.version`]
  return { kind, className, version, settings: settingsWithPrefix(`${name}.`, from), isOfConnector }
}
