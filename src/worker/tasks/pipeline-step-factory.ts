import { type Catalog, listedName } from '../../plugins/plugin-catalog.ts'
import { type HostAccess, type Plugin, parseConfig, type RawConfig, UNRESTRICTED } from '../../sdk/index.ts'
import { findPlugin } from './find-plugin.ts'
import { converterStep, headerConverterStep, selectionStep, transformationStep } from './local-steps.ts'
import {
  type ConfiguredConverter,
  type ConfiguredTransformation,
  type PipelinePlugins,
  SIMPLE_HEADER_CONVERTER,
} from './pipeline-plugins.ts'
import type { PipelineStep, RemoteStep, RemoteSteps } from './pipeline-step.ts'

type FactoryOptions = {
  readonly kind: 'source' | 'sink'
  readonly catalog: Catalog
  readonly access: HostAccess
  readonly remote: RemoteSteps
  /** The location whose process runs the remote steps. */
  readonly host: string
}

/** Creates the steps of a pipeline. Throws a `ConfigError` for invalid settings and a `UserError` for an unknown plugin. */
export class PipelineStepFactory {
  readonly #options: FactoryOptions

  constructor(options: FactoryOptions) {
    this.#options = options
  }

  transformations({ transformations }: PipelinePlugins): readonly PipelineStep[] {
    return transformations.flatMap((reference) => this.#transformation(reference))
  }

  converters({ key, value, headers }: PipelinePlugins): readonly PipelineStep[] {
    const converters = [this.#converter('key', key), this.#converter('value', value)]
    return [...converters, this.#headerConverter(headers, converters)]
  }

  /** A transformation, behind its predicate. */
  #transformation({
    className: name,
    version,
    settings,
    predicate,
  }: ConfiguredTransformation): readonly PipelineStep[] {
    const { catalog } = this.#options
    const plugin = findPlugin(catalog, 'transformation', name, version)
    const className = listedName(plugin)
    const isConditional = predicate !== undefined
    const runs =
      this.#remote(plugin, settings) ??
      transformationStep(plugin.create(parseConfig(plugin.config, settings)), isConditional)
    const transformation: PipelineStep = { role: 'transformation', className, isConditional, isNegated: false, runs }
    if (predicate === undefined) return [transformation]
    const test = findPlugin(catalog, 'predicate', predicate.className, predicate.version)
    const { isNegated } = predicate
    const selects =
      this.#remote(test, predicate.settings) ??
      selectionStep(test.create(parseConfig(test.config, predicate.settings)), isNegated)
    return [{ role: 'predicate', className, isConditional: false, isNegated, runs: selects }, transformation]
  }

  #converter(role: 'key' | 'value', reference: ConfiguredConverter): PipelineStep {
    const { kind, catalog, access } = this.#options
    const { className, version, settings, isOfConnector } = reference
    const plugin = findPlugin(catalog, 'converter', className, version)
    const create = () => {
      const { files, network } = isOfConnector ? access : UNRESTRICTED
      const use = { files, network, isKey: role === 'key' }
      return converterStep(kind, role, plugin.create(parseConfig(plugin.config, settings), use))
    }
    return {
      role: `${role}_converter`,
      className: listedName(plugin),
      isConditional: false,
      isNegated: false,
      runs: this.#remote(plugin, settings) ?? create(),
    }
  }

  /**
   * The header converter. Kafka's default one is part of the Connect API, so that it runs beside remote converters, and does
   * not divide their segment.
   */
  #headerConverter(reference: ConfiguredConverter<'header_converter'>, others: readonly PipelineStep[]): PipelineStep {
    const { kind, catalog, access, host } = this.#options
    const { version, settings } = reference
    const plugin = findPlugin(catalog, 'header_converter', reference.className, version)
    const className = listedName(plugin)
    const create = () => headerConverterStep(kind, plugin.create(parseConfig(plugin.config, settings), access))
    const isBesideRemote = className === SIMPLE_HEADER_CONVERTER && others.some(({ runs }) => runs.where === 'remote')
    const beside: RemoteStep = {
      where: 'remote',
      location: host,
      class: className,
      version: plugin.version,
      config: settings,
    }
    const runs = this.#remote(plugin, settings) ?? (isBesideRemote ? beside : create())
    return { role: 'header_converter', className, isConditional: false, isNegated: false, runs }
  }

  #remote(plugin: Plugin & { readonly location?: string }, config: RawConfig): RemoteStep | undefined {
    const { location, class: name, version } = plugin
    return this.#options.remote.isRemote(location)
      ? { where: 'remote', location, class: name, version, config }
      : undefined
  }
}
