import { commaSeparated, settingsWithPrefix } from '../../config/settings.ts'
import { type Catalog, listedName } from '../../plugins/plugin-catalog.ts'
import { type ConnectRecord, parseConfig, type RawConfig } from '../../sdk/index.ts'
import { findPlugin } from './find-plugin.ts'
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
  return commaSeparated(config['transforms'] ?? '').map((alias) => createTransformation(catalog, config, alias))
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

function createTransformation(catalog: Catalog, config: RawConfig, alias: string): Transformation {
  const settings = settingsWithPrefix(`transforms.${alias}.`, config)
  const plugin = findPlugin(catalog, 'transformation', settings['type'] ?? '', settings['plugin.version'])
  const className = listedName(plugin)
  const apply = plugin.create(parseConfig(plugin.config, settings))
  const predicateAlias = settings['predicate']
  if (predicateAlias === undefined) return { className, apply }
  const predicate = createPredicate(catalog, config, predicateAlias)
  const expected = settings['negate']?.trim().toLowerCase() !== 'true'
  return { className, apply: (record) => (predicate(record) === expected ? apply(record) : record) }
}

function createPredicate(catalog: Catalog, config: RawConfig, alias: string): (record: ConnectRecord) => boolean {
  const settings = settingsWithPrefix(`predicates.${alias}.`, config)
  const plugin = findPlugin(catalog, 'predicate', settings['type'] ?? '', settings['plugin.version'])
  return plugin.create(parseConfig(plugin.config, settings))
}
