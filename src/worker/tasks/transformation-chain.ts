import { type Catalog, listedName } from '../../plugins/plugin-catalog.ts'
import { type ConnectRecord, parseConfig, type RawConfig } from '../../sdk/index.ts'
import { findPlugin } from './find-plugin.ts'
import { type ConfiguredTransformation, configuredTransformations } from './pipeline-plugins.ts'
import { enterStage, type ProcessingContext } from './processing-context.ts'

type Transformation = {
  /** The class name that is reported for it. */
  readonly className: string
  readonly apply: <R extends ConnectRecord>(record: R) => R | null
}

/** The transformations of a connector, in the order of `transforms`. */
export type TransformationChain = readonly Transformation[]

/** Throws a `ConfigError` for invalid settings and a `UserError` for an unknown plugin. */
export function createTransformationChain(catalog: Catalog, config: RawConfig): TransformationChain {
  return configuredTransformations(config).map((reference) => createTransformation(catalog, reference))
}

/** Returns the transformed record, or null when a transformation drops it. `context` names the one that threw. */
export function applyTransformations<R extends ConnectRecord>(
  chain: TransformationChain,
  record: R,
  context: ProcessingContext,
): R | null {
  let current: R | null = record
  for (const { className, apply } of chain) {
    enterStage(context, 'TRANSFORMATION', className)
    current = apply(current)
    if (current === null) return null
  }
  return current
}

function createTransformation(catalog: Catalog, reference: ConfiguredTransformation): Transformation {
  const plugin = findPlugin(catalog, 'transformation', reference.className, reference.version)
  const className = listedName(plugin)
  const apply = plugin.create(parseConfig(plugin.config, reference.settings))
  if (reference.predicate === undefined) return { className, apply }
  const { isNegated, ...named } = reference.predicate
  const predicateClass = findPlugin(catalog, 'predicate', named.className, named.version)
  const predicate = predicateClass.create(parseConfig(predicateClass.config, named.settings))
  return { className, apply: (record) => (predicate(record) === isNegated ? record : apply(record)) }
}
