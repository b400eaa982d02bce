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
import { MixedPipeline, type PipelineContext } from './mixed-pipeline.ts'
import { pipelinePlugins } from './pipeline-plugins.ts'
import { createTransformationChain, type TransformationChain } from './transformation-chain.ts'

/** The converters and transformations of one task, which each record passes between the connector and its topics. */
export type RecordPipeline = LocalPipeline | MixedPipeline

/** A pipeline whose plugins all run in this thread. */
export type LocalPipeline = {
  readonly key: NamedConverter<ConverterInstance>
  readonly value: NamedConverter<ConverterInstance>
  readonly headers: NamedConverter<HeaderConverterInstance>
  readonly transformations: TransformationChain
}

/** A converter and the class name that is reported for it. */
type NamedConverter<Converter> = { readonly className: string; readonly converter: Converter }

/** Opens the pipeline of a task. Rejects like `createRecordPipeline`, and when a remote plugin cannot be created. */
export async function openRecordPipeline(context: PipelineContext): Promise<RecordPipeline> {
  const { spec, plugins, access } = context
  const mixed = await MixedPipeline.open(context)
  return mixed ?? createRecordPipeline(plugins, spec.config, spec.worker.converters, access)
}

export function closeRecordPipeline(pipeline: RecordPipeline): void {
  if (pipeline instanceof MixedPipeline) pipeline.close()
}

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
): LocalPipeline {
  const plugins = pipelinePlugins(config, workerDefaults)
  const createConverter = (role: 'key' | 'value'): NamedConverter<ConverterInstance> => {
    const { className, version, settings, isOfConnector } = plugins[role]
    const plugin = findPlugin(catalog, 'converter', className, version)
    const { files, network } = isOfConnector ? access : UNRESTRICTED
    const converter = plugin.create(parseConfig(plugin.config, settings), { files, network, isKey: role === 'key' })
    return { className: listedName(plugin), converter }
  }
  const createHeaderConverter = (): NamedConverter<HeaderConverterInstance> => {
    const { className, version, settings } = plugins.headers
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
