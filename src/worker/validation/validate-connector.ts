import type { ConfigInfos } from '../../clients/worker-client.ts'
import { MASK } from '../../common/secrets/secret-keys.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import { listedName } from '../../plugins/plugin-catalog.ts'
import type { HostAccess, RawConfig } from '../../sdk/index.ts'
import { commonKeys, sinkKeys, sourceKeys } from '../configuration/connector-keys.ts'
import {
  type ConnectorPlugin,
  connectorVersionProblem,
  findAnyConnector,
  findConnector,
} from '../configuration/connector-plugin.ts'
import { versionKeyProblem } from '../configuration/plugin-version.ts'
import { type WrittenConfig, withoutNulls } from '../configuration/written-config.ts'
import type { OverridePolicy } from '../model/override-policy.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { PluginCatalog, PluginHost } from '../plugin-host.ts'
import type { TopicPolicies } from '../topic-access/topic-policies.ts'
import { overrideEntries } from './client-overrides.ts'
import { type ConfigEntry, configEntries, pluginEntries, withError } from './config-entry.ts'
import { checkConfigRules, type RuleContext } from './config-rules.ts'
import { converterEntries } from './converter-entries.ts'
import { checkExactlyOnce } from './exactly-once-support.ts'
import { pluginClassProblem, problemLines } from './plugin-class-problem.ts'
import { checkTopics, type TopicContext } from './topic-problems.ts'
import { transformationEntries } from './transformation-entries.ts'
import { describeUnknownKey, findUnknownKeys, findUnknownStepKeys } from './unknown-keys.ts'

export type ValidationContext = RuleContext & {
  readonly plugins: PluginHost
  /** The worker's converter settings, which apply when the connector configures no converter. */
  readonly workerDefaults: RawConfig
  readonly overrides: OverridePolicy
  /** The hosts and files that connectors may use. */
  readonly access: HostAccess
  readonly topics: Pick<TopicPolicies, 'accessWith'>
  readonly isDataTopic: TopicContext['isDataTopic']
}

const NULL_VALUE = 'Null value can not be supplied as the configuration value.'

/**
 * Validates a connector's configuration: the keys of the connector, its transforms, predicates, converters and client
 * overrides, and the rules that span several keys. Placeholders are validated as written; `placeholder-validation.ts`
 * validates their resolved values. With `connects`, the connector also asks its external system. Returns the response of the `validate` endpoint, in which an invalid value is an
 * error of its key. Rejects with a `WorkerError`: `invalid_config` when the connector class is missing, unknown or not
 * allowed, or the error of `PluginHost.call` when the validation code of a plugin fails.
 */
export async function validateConnector(
  written: WrittenConfig,
  context: ValidationContext,
  { connects }: { readonly connects: boolean },
): Promise<ConfigInfos> {
  const { plugins } = context
  const config = withoutNulls(written)
  const plugin = requireConnector(written, plugins.catalog)
  const problem = connectorVersionProblem(plugins.catalog, config)
  if (problem !== undefined) return wrongVersion(problem, config, plugin, written)
  const [own, steps, converters] = await Promise.all([
    pluginEntries(plugins, plugin, config, { connects: connects && !hasMask(config) }),
    transformationEntries(config, plugins),
    converterEntries(config, plugins),
  ])
  const base = [
    ...configEntries(commonKeys, config),
    ...configEntries(plugin.kind === 'source' ? sourceKeys : sinkKeys, config),
    ...steps,
  ].map((entry) => fillIn(entry, config, plugin, context))
  const topics: TopicContext = {
    access: context.topics.accessWith(config['name'] ?? '', config),
    isDataTopic: context.isDataTopic,
  }
  const known = checkTopics(replaceInPlace(base, own), config, plugin, topics)
  const ruled = checkConfigRules(known, config, plugin, context)
  const merged = plugin.kind === 'source' ? await checkExactlyOnce(ruled, config, plugin, context) : ruled
  const configs = [...nullEntries(written, merged), ...markNulls(merged, written)]
  const blocks = [
    ...overrideEntries(config, plugin.kind, context.overrides, { host: context.access, topics: topics.access }),
    ...converters,
  ]
  return {
    name: written['connector.class'] ?? '',
    error_count: countErrors(configs) + blocks.filter(({ value }) => value.errors.length > 0).length,
    groups: groupsOf([...configs, ...blocks]),
    configs: [...configs, ...blocks],
    warnings: [...findUnknownKeys(plugin, config), ...findUnknownStepKeys(plugins.catalog, config)].map(
      describeUnknownKey,
    ),
  }
}

/** Whether a secret is masked. The external system cannot check such a configuration, because the value is not known. */
function hasMask(config: RawConfig): boolean {
  return Object.values(config).some((value) => value.includes(MASK))
}

/** The response when no installed version of the connector is as required: there are no keys of its own to validate. */
function wrongVersion(
  problem: string,
  config: RawConfig,
  plugin: ConnectorPlugin,
  written: WrittenConfig,
): ConfigInfos {
  const keys = [commonKeys, plugin.kind === 'source' ? sourceKeys : sinkKeys]
  const entries = keys.flatMap((spec) => configEntries(spec, config))
  const configs = [...nullEntries(written, entries), ...markNulls(entries, written)].map((entry) =>
    ['connector.class', 'connector.plugin.version'].includes(entry.value.name) ? withError(entry, problem) : entry,
  )
  const name = written['connector.class'] ?? ''
  return { name, error_count: countErrors(configs), groups: groupsOf(configs), configs }
}

/** The connector in the version that is required or, if that is not installed, in the newest one. */
function requireConnector(written: WrittenConfig, plugins: PluginCatalog): ConnectorPlugin {
  const className = written['connector.class']
  if (className === undefined || className === null) {
    const shown = Object.entries(written).map(([key, value]) => `${key}=${value}`)
    throw new WorkerError('invalid_config', `Connector config {${shown.join(', ')}} contains no connector type`)
  }
  const named = { 'connector.class': className }
  const version = written['connector.plugin.version'] ?? undefined
  const found =
    (version === undefined ? undefined : findConnector(plugins, { ...named, 'connector.plugin.version': version })) ??
    findAnyConnector(plugins, named)
  if (found) return found
  const refusal = plugins.refusal('source', trimAsJava(className)) ?? plugins.refusal('sink', trimAsJava(className))
  if (refusal !== undefined) {
    throw new WorkerError('invalid_config', `The connector ${className} may not be used: ${refusal}`)
  }
  const known = [...plugins.list('source'), ...plugins.list('sink')].map((entry) => entry.class)
  throw new WorkerError(
    'invalid_config',
    `Failed to find any class that implements Connector and which name matches ${className}, ` +
      `available connectors are: ${known.join(', ')}`,
  )
}

/** All error messages of a validation, for the response to the creation of a connector. */
export function messagesOf({ configs }: ConfigInfos): readonly string[] {
  return configs.flatMap(({ value }) => value.errors)
}

/**
 * Fills in the defaults and recommended values that depend on the worker and the installed plugins, as Kafka Connect
 * does.
 */
function fillIn(
  entry: ConfigEntry,
  config: RawConfig,
  plugin: ConnectorPlugin,
  { plugins: { catalog: plugins }, workerDefaults }: ValidationContext,
): ConfigEntry {
  const { name } = entry.value
  if (name === 'connector.plugin.version') {
    const versions = plugins.versionsOf(plugin.kind, trimAsJava(config['connector.class'] ?? ''))
    return withDefault(entry, plugin.version, versions)
  }
  const role = /^(key|value|header)\.converter(\.plugin\.version)?$/.exec(name)
  if (!role) return entry
  const kind = role[1] === 'header' ? 'header_converter' : 'converter'
  const converter = plugins.find(kind, workerDefaults[`${role[1]}.converter`] ?? '')
  if (role[2] !== undefined) {
    return withConverterVersion(
      entry,
      kind,
      config[`${role[1]}.converter`] ?? workerDefaults[`${role[1]}.converter`],
      plugins,
    )
  }
  const classes = plugins.list(kind).map((known) => known.class)
  const filled = withDefault(entry, converter ? listedName(converter) : null, classes)
  const { value } = filled.value
  if (value === null) return filled
  const problem = pluginClassProblem(plugins, kind, name, value)
  if (problem) {
    return {
      ...filled,
      value: { ...filled.value, value: problem.exists ? value : null, errors: problemLines(problem) },
    }
  }
  const version = versionKeyProblem(plugins, kind, value, config[`${name}.plugin.version`])
  return version?.isSyntax === false ? withError(filled, version.message) : filled
}

function withDefault(entry: ConfigEntry, fallback: string | null, recommended: readonly string[]): ConfigEntry {
  const value = entry.value.value ?? fallback
  return {
    definition: entry.definition && { ...entry.definition, default_value: fallback },
    value: { ...entry.value, value, recommended_values: recommended },
  }
}

function withConverterVersion(
  entry: ConfigEntry,
  kind: 'converter' | 'header_converter',
  className = '',
  plugins: PluginCatalog,
): ConfigEntry {
  const required = entry.value.value ?? undefined
  const used = plugins.find(kind, className, required) ?? plugins.find(kind, className)
  if (used === undefined) return invisible(entry)
  const filled = withDefault(entry, used.version, plugins.versionsOf(kind, className))
  const problem = versionKeyProblem(plugins, kind, className, required)
  return problem === undefined ? filled : withError(filled, problem.message)
}

/** Hides the version key of a converter that is not installed. */
function invisible(entry: ConfigEntry): ConfigEntry {
  return { ...entry, value: { ...entry.value, visible: false } }
}

/**
 * Replaces the definitions of common keys with the connector's own ones, in the same position; other own keys follow.
 */
function replaceInPlace(base: readonly ConfigEntry[], own: readonly ConfigEntry[]): readonly ConfigEntry[] {
  const mine = new Map(own.map((entry) => [entry.value.name, entry]))
  const placed = base.map((entry) => mine.get(entry.value.name) ?? entry)
  const names = new Set(base.map(({ value }) => value.name))
  return [...placed, ...own.filter(({ value }) => !names.has(value.name))]
}

function nullEntries(written: WrittenConfig, known: readonly ConfigEntry[]): readonly ConfigEntry[] {
  const names = new Set(known.map(({ value }) => value.name))
  const nulls = Object.keys(written).filter((name) => written[name] === null && !names.has(name))
  return nulls.map((name) => ({
    definition: null,
    value: { name, value: null, recommended_values: [], errors: [NULL_VALUE], visible: true },
  }))
}

function markNulls(entries: readonly ConfigEntry[], written: WrittenConfig): readonly ConfigEntry[] {
  return entries.map((entry) => {
    if (written[entry.value.name] !== null) return entry
    return { ...entry, value: { ...entry.value, errors: [...entry.value.errors, NULL_VALUE] } }
  })
}

function countErrors(entries: readonly ConfigEntry[]): number {
  return entries.reduce((count, { value }) => count + value.errors.length, 0)
}

function groupsOf(entries: readonly ConfigEntry[]): readonly string[] {
  return [...new Set(entries.flatMap(({ definition }) => definition?.group ?? []))]
}
