import { type Catalog, listedName } from '../../plugins/plugin-catalog.ts'
import { type HostAccess, type Plugin, parseConfig, type RawConfig, UNRESTRICTED } from '../../sdk/index.ts'
import { findPlugin } from './find-plugin.ts'
import {
  type ConfiguredConverter,
  type ConfiguredTransformation,
  type PipelinePlugins,
  SIMPLE_HEADER_CONVERTER,
} from './pipeline-plugins.ts'
import {
  applyFromConnect,
  applyHeadersFromConnect,
  applyHeadersToConnect,
  applyPredicate,
  applyToConnect,
  applyTransformation,
  PluginStep,
} from './plugin-step.ts'
import type { RemotePlugin, RemotePlugins } from './remote-step.ts'

export type StepFactoryOptions = {
  readonly kind: 'source' | 'sink'
  readonly catalog: Catalog
  readonly access: HostAccess
  /** Undefined if all plugins run in this process. */
  readonly remote: RemotePlugins | undefined
  /** The location whose process runs the remote plugins; undefined if there are none. */
  readonly host: string | undefined
}

/**
 * Creates the plugins of a pipeline. Those from the connector's configuration get the connector's `access`; converters from the
 * worker's settings are unrestricted. Throws a `ConfigError` for invalid settings and a `UserError` for an unknown plugin.
 */
export class StepFactory {
  readonly #options: StepFactoryOptions

  constructor(options: StepFactoryOptions) {
    this.#options = options
  }

  /** The plugins in the order in which a record passes them. */
  create({ transformations, key, value, headers }: PipelinePlugins): readonly (PluginStep | RemotePlugin)[] {
    const transforms = transformations.flatMap((reference) => this.#transformation(reference))
    const converters = [this.#converter('key', key), this.#converter('value', value)]
    const header = this.#headerConverter(headers, converters.some(isRemote))
    return this.#options.kind === 'source'
      ? inSourceOrder(transforms, converters, header)
      : inSinkOrder(transforms, [...converters, header])
  }

  /** A transformation, behind its predicate. */
  #transformation({
    className: name,
    version,
    settings,
    predicate,
  }: ConfiguredTransformation): readonly (PluginStep | RemotePlugin)[] {
    const { catalog } = this.#options
    const plugin = findPlugin(catalog, 'transformation', name, version)
    const className = listedName(plugin)
    const isConditional = predicate !== undefined
    const transformation =
      this.#remote(plugin, settings, { role: 'transformation', className, isConditional, isNegated: false }) ??
      new PluginStep(
        'transformation',
        className,
        applyTransformation(plugin.create(parseConfig(plugin.config, settings)), isConditional),
      )
    if (predicate === undefined) return [transformation]
    const test = findPlugin(catalog, 'predicate', predicate.className, predicate.version)
    const { isNegated } = predicate
    const selection =
      this.#remote(test, predicate.settings, { role: 'predicate', className, isConditional: false, isNegated }) ??
      new PluginStep(
        'predicate',
        className,
        applyPredicate(test.create(parseConfig(test.config, predicate.settings)), isNegated),
      )
    return [selection, transformation]
  }

  #converter(of: 'key' | 'value', reference: ConfiguredConverter): PluginStep | RemotePlugin {
    const { kind, catalog, access } = this.#options
    const { version, settings, isOfConnector } = reference
    const plugin = findPlugin(catalog, 'converter', reference.className, version)
    const className = listedName(plugin)
    const role = `${of}_converter` as const
    const remote = this.#remote(plugin, settings, { role, className, isConditional: false, isNegated: false })
    if (remote !== undefined) return remote
    const { files, network } = isOfConnector ? access : UNRESTRICTED
    const converter = plugin.create(parseConfig(plugin.config, settings), { files, network, isKey: of === 'key' })
    const apply = kind === 'source' ? applyFromConnect : applyToConnect
    return new PluginStep(role, className, apply(of, converter))
  }

  /**
   * The header converter. Kafka's default one is part of the Connect API, so that it runs beside remote converters, and does
   * not divide them.
   */
  #headerConverter(
    reference: ConfiguredConverter<'header_converter'>,
    hasRemoteConverter: boolean,
  ): PluginStep | RemotePlugin {
    const { kind, catalog, access, host } = this.#options
    const { version, settings } = reference
    const plugin = findPlugin(catalog, 'header_converter', reference.className, version)
    const className = listedName(plugin)
    const named = { role: 'header_converter', className, isConditional: false, isNegated: false } as const
    const remote = this.#remote(plugin, settings, named)
    if (remote !== undefined) return remote
    if (className === SIMPLE_HEADER_CONVERTER && hasRemoteConverter) {
      return { ...named, location: host!, class: className, version: plugin.version, config: settings }
    }
    const converter = plugin.create(parseConfig(plugin.config, settings), access)
    const apply = kind === 'source' ? applyHeadersFromConnect : applyHeadersToConnect
    return new PluginStep('header_converter', className, apply(converter))
  }

  #remote(
    plugin: Plugin & { readonly location?: string },
    config: RawConfig,
    named: Pick<RemotePlugin, 'role' | 'className' | 'isConditional' | 'isNegated'>,
  ): RemotePlugin | undefined {
    const { location, class: name, version } = plugin
    return this.#options.remote?.isRemote(location) ? { ...named, location, class: name, version, config } : undefined
  }
}

type Step = PluginStep | RemotePlugin

/**
 * The headers of a source are converted before key and value, because converters receive them; of these two, the remote one is
 * first, beside a remote plugin before it.
 */
export function inSourceOrder(
  transformations: readonly Step[],
  converters: readonly Step[],
  header: Step,
): readonly Step[] {
  return [...transformations, header, ...converters.filter(isRemote), ...converters.filter(isLocal)]
}

/** The converters of a sink are independent of each other; the remote ones are beside a remote transformation. */
export function inSinkOrder(transformations: readonly Step[], converters: readonly Step[]): readonly Step[] {
  return [...converters.filter(isLocal), ...converters.filter(isRemote), ...transformations]
}

function isLocal(step: Step): step is PluginStep {
  return step instanceof PluginStep
}

function isRemote(step: Step): step is RemotePlugin {
  return !isLocal(step)
}

/** Joins consecutive remote plugins, so that a record crosses to the other process once for all of them. */
export function joinRemotePlugins(steps: readonly Step[]): readonly (PluginStep | readonly RemotePlugin[])[] {
  const joined: (PluginStep | RemotePlugin[])[] = []
  for (const step of steps) {
    const last = joined.at(-1)
    if (isLocal(step)) joined.push(step)
    else if (Array.isArray(last)) last.push(step)
    else joined.push([step])
  }
  return joined
}
