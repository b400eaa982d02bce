import { OWNER_KEY } from '../../clients/worker-client.ts'
import { didYouMean } from '../../config/did-you-mean.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import { javaRegex } from '../../java-compat/java-regex.ts'
import type { PluginDescriptor } from '../../plugins/plugin-descriptor.ts'
import { field, type RawConfig } from '../../sdk/index.ts'
import { commonKeys, sinkKeys, sourceKeys } from '../configuration/connector-keys.ts'
import type { ConnectorPlugin } from '../configuration/connector-plugin.ts'
import type { PluginCatalog } from '../plugin-host.ts'
import { ALIASES_MAX } from './transformation-entries.ts'

/**
 * Prefixes of keys that belong to a converter, transform, predicate, Kafka client or topic, and are validated there.
 */
const OF_OTHERS =
  /^((key|value|header)\.converter|transforms|predicates|(producer|consumer|admin)\.override|topic\.creation)\./

/** Maximum number of reported keys, because the search for a similar key compares each with all known keys. */
const REPORTED_MAX = 20

/** A key without effect, and the key that is meant: its present name if it `isFormer`, else the most similar known one. */
export type UnknownKey = { readonly key: string; readonly meant?: string; readonly isFormer?: true }

/**
 * Finds keys that nothing reads, because they are misspelled, belong to another connector or had another name in a former version. They
 * are only reported: like Kafka Connect, the worker accepts them.
 */
export function findUnknownKeys(plugin: ConnectorPlugin, config: RawConfig): readonly UnknownKey[] {
  const { kind, definitions, readsOtherKeys, otherKeys } = plugin
  if (readsOtherKeys && otherKeys === undefined) return []
  const { known: patterns, former } = otherKeys ?? { known: [], former: {} }
  const shared = kind === 'source' ? sourceKeys : sinkKeys
  const own = definitions.map(({ name }) => name)
  const known = [...new Set([...own, ...Object.keys(shared.shape), ...Object.keys(commonKeys.shape), OWNER_KEY])]
  const read = patterns.map((pattern) => javaRegex(pattern, { whole: true }))
  return Object.keys(config)
    .filter((key) => !known.includes(key) && !OF_OTHERS.test(key))
    .flatMap((key): UnknownKey | readonly [] => {
      const present = Object.hasOwn(former, key) ? former[key] : undefined
      if (present !== undefined) return { key, meant: present, isFormer: true }
      if (read.some((pattern) => pattern.test(key))) return []
      const meant = didYouMean(key, known)
      return { key, ...(meant !== undefined && { meant }) }
    })
    .slice(0, REPORTED_MAX)
}

const STEP_KEYS = {
  transforms: ['type', 'plugin.version', 'predicate', 'negate'],
  predicates: ['type', 'plugin.version'],
}

/** Many configurations set it for each converter, and it changes nothing where it has no effect. */
const CONVERTER_KEYS = ['plugin.version', 'schemas.enable']

type Step = {
  readonly prefix: string
  readonly plugin: PluginDescriptor | undefined
  readonly common: readonly string[]
}

/**
 * Finds keys of transforms, predicates and converters that their plugin does not read. Nothing is known about the keys of Java
 * plugins.
 */
export function findUnknownStepKeys(catalog: PluginCatalog, config: RawConfig): readonly UnknownKey[] {
  return [...stepsOf(catalog, config)]
    .flatMap(({ prefix, plugin, common }) =>
      plugin === undefined ? [] : unknownKeysOf(plugin, prefix, common, config),
    )
    .slice(0, REPORTED_MAX)
}

function* stepsOf(catalog: PluginCatalog, config: RawConfig): Generator<Step> {
  for (const [list, kind] of [
    ['transforms', 'transformation'],
    ['predicates', 'predicate'],
  ] as const) {
    const aliases = new Set(field.listItems(config[list] ?? '').slice(0, ALIASES_MAX))
    for (const alias of aliases) {
      const prefix = `${list}.${alias}.`
      yield { prefix, plugin: catalog.find(kind, config[`${prefix}type`] ?? ''), common: STEP_KEYS[list] }
    }
  }
  for (const [role, kind] of [
    ['key', 'converter'],
    ['value', 'converter'],
    ['header', 'header_converter'],
  ] as const) {
    const plugin = catalog.find(kind, config[`${role}.converter`] ?? '')
    yield { prefix: `${role}.converter.`, plugin, common: CONVERTER_KEYS }
  }
}

function unknownKeysOf(
  { definitions, readsOtherKeys, otherKeys }: PluginDescriptor,
  prefix: string,
  common: readonly string[],
  config: RawConfig,
): readonly UnknownKey[] {
  if (readsOtherKeys && otherKeys === undefined) return []
  const read = (otherKeys?.known ?? []).map((pattern) => javaRegex(pattern, { whole: true }))
  const known = [...definitions.map(({ name }) => name), ...common]
  return Object.keys(settingsWithPrefix(prefix, config))
    .filter((key) => !known.includes(key) && !read.some((pattern) => pattern.test(key)))
    .map((key) => {
      const meant = didYouMean(key, known)
      return { key: prefix + key, ...(meant !== undefined && { meant: prefix + meant }) }
    })
}

/** A sentence for people. */
export function describeUnknownKey({ key, meant, isFormer }: UnknownKey): string {
  if (isFormer) return `'${key}' has no effect: it is now '${meant}'`
  return `'${key}' is unknown and has no effect${meant === undefined ? '' : `: did you mean '${meant}'?`}`
}
