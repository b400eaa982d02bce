import type { ConfigKeyInfo } from '../../clients/worker-client.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import { field, type RawConfig } from '../../sdk/index.ts'
import { versionKeyProblem } from '../configuration/plugin-version.ts'
import type { PluginHost } from '../plugin-host.ts'
import { type ConfigEntry, pluginEntries, withError } from './config-entry.ts'
import { type PluginClassProblem, pluginClassProblem, problemLines } from './plugin-class-problem.ts'

/** Maximum number of aliases in a list, because each alias adds entries to the response. */
export const ALIASES_MAX = 200

/** The entries of all transforms and predicates, in the order of their aliases. */
export async function transformationEntries(config: RawConfig, plugins: PluginHost): Promise<readonly ConfigEntry[]> {
  const aliases = (key: string) => [...new Set(field.listItems(config[key] ?? ''))].slice(0, ALIASES_MAX)
  const transforms = aliases('transforms').map((alias) => transformEntries(alias, config, plugins))
  const predicates = aliases('predicates').map((alias) => stepKeys(PREDICATES, alias, config, plugins))
  return (await Promise.all([...transforms, ...predicates])).flat()
}

type Kind = {
  readonly prefix: 'transforms' | 'predicates'
  readonly plugin: 'transformation' | 'predicate'
  readonly word: string
  readonly group: string
}

const TRANSFORMS: Kind = { prefix: 'transforms', plugin: 'transformation', word: 'Transformation', group: 'Transforms' }
const PREDICATES: Kind = { prefix: 'predicates', plugin: 'predicate', word: 'Predicate', group: 'Predicates' }

async function transformEntries(
  alias: string,
  config: RawConfig,
  plugins: PluginHost,
): Promise<readonly ConfigEntry[]> {
  const keys = await stepKeys(TRANSFORMS, alias, config, plugins)
  const settings = settingsWithPrefix(`transforms.${alias}.`, config)
  if (plugins.catalog.find(TRANSFORMS.plugin, settings['type'] ?? '') === undefined) return keys
  const common = (name: string, definition: Partial<ConfigKeyInfo>, value: string | null, errors: string[] = []) =>
    stepEntry(TRANSFORMS, alias, keys.length, name, definition, value, errors)
  const [type, ...others] = keys
  const negated = settings['negate'] !== undefined && settings['predicate'] === undefined
  const name = `transforms.${alias}`
  const negate = settings['negate'] ?? 'false'
  const isBoolean = /^(true|false)$/i.test(trimAsJava(negate))
  return [
    ...(negated && type
      ? [
          withError(
            type,
            `Config '${name}.negate' was provided but there is no config '${name}.predicate' defining a predicate to be negated.`,
          ),
        ]
      : keys.slice(0, 1)),
    ...others,
    common(
      'negate',
      {
        type: 'BOOLEAN',
        default_value: 'false',
        documentation: 'Whether the configured predicate should be negated.',
      },
      isBoolean ? field.printedValue('BOOLEAN', trimAsJava(negate)) : null,
      isBoolean
        ? []
        : [`Invalid value ${negate} for configuration ${name}.negate: Expected value to be either true or false`],
    ),
    common(
      'predicate',
      {
        order_in_group: keys.length + 1,
        documentation: 'The alias of a predicate used to determine whether to apply this transformation.',
      },
      settings['predicate'] ?? null,
    ),
  ]
}

/** The entries of one alias: its type, its version and the keys of the plugin that the type names. */
async function stepKeys(
  kind: Kind,
  alias: string,
  config: RawConfig,
  plugins: PluginHost,
): Promise<readonly ConfigEntry[]> {
  const settings = settingsWithPrefix(`${kind.prefix}.${alias}.`, config)
  const className = settings['type']
  const required = settings['plugin.version']
  const latest = className === undefined ? undefined : plugins.catalog.find(kind.plugin, className)
  const plugin = latest && (plugins.catalog.find(kind.plugin, className ?? '', required) ?? latest)
  const problem = versionKeyProblem(plugins.catalog, kind.plugin, className ?? '', required)
  const problems = problem === undefined ? [] : [problem.message]
  const type = typeEntry(kind, alias, className, problems, plugins)
  const version = stepEntry(
    kind,
    alias,
    1,
    'plugin.version',
    {
      default_value: plugin?.version ?? null,
      importance: 'HIGH',
      width: 'LONG',
      documentation: `Version of the '${alias}' ${kind.word.toLowerCase()}.`,
      display_name: `${kind.word} version for ${alias}`,
    },
    required ?? plugin?.version ?? null,
    problems,
  )
  if (!plugin) return [type, version]
  const entries = await pluginEntries(plugins, plugin, settings)
  const own = entries.map((entry, index) => ownEntry(kind, alias, index + 2, entry))
  const versioned = {
    ...version,
    value: { ...version.value, recommended_values: plugins.catalog.versionsOf(kind.plugin, className ?? '') },
  }
  return [type, versioned, ...own]
}

function typeEntry(
  kind: Kind,
  alias: string,
  className: string | undefined,
  versionProblems: readonly string[],
  plugins: PluginHost,
): ConfigEntry {
  const name = `${kind.prefix}.${alias}.type`
  const missing: PluginClassProblem | undefined =
    className === undefined
      ? { message: `Missing required configuration "${name}" which has no default value.`, exists: false }
      : pluginClassProblem(plugins.catalog, kind.plugin, name, className)
  const entry = stepEntry(
    kind,
    alias,
    0,
    'type',
    {
      type: 'CLASS',
      required: true,
      importance: 'HIGH',
      width: 'LONG',
      documentation: `Class for the '${alias}' ${kind.word.toLowerCase()}.`,
      display_name: `${kind.word} type for ${alias}`,
    },
    missing?.exists === false ? null : (className ?? null),
    missing === undefined ? versionProblems : problemLines(missing),
  )
  return {
    ...entry,
    value: { ...entry.value, recommended_values: plugins.catalog.list(kind.plugin).map((known) => known.class) },
  }
}

/**
 * Messages about values of a wrong type. In Kafka Connect they have the whole name of the key, and those of validators only
 * what follows the alias.
 */
const WRONG_TYPE =
  /: (?:Not a number of type [A-Z]+|Expected (?:value to be|a comma separated list|a Class instance) .*|Class .* could not be found\.)$/

function ownEntry(kind: Kind, alias: string, order: number, { definition, value }: ConfigEntry): ConfigEntry {
  const prefix = `${kind.prefix}.${alias}.`
  const rename = (message: string) => {
    const missing = message.replace(`configuration "${value.name}"`, `configuration "${prefix}${value.name}"`)
    if (!WRONG_TYPE.test(message)) return missing
    return missing.replace(`configuration ${value.name}:`, `configuration ${prefix}${value.name}:`)
  }
  return {
    definition: definition && {
      ...definition,
      name: prefix + definition.name,
      group: `${kind.group}: ${alias}`,
      order_in_group: order,
    },
    value: { ...value, name: prefix + value.name, errors: value.errors.map(rename) },
  }
}

function stepEntry(
  kind: Kind,
  alias: string,
  order: number,
  key: string,
  definition: Partial<ConfigKeyInfo>,
  value: string | null,
  errors: readonly string[] = [],
): ConfigEntry {
  const name = `${kind.prefix}.${alias}.${key}`
  return {
    definition: {
      name,
      type: 'STRING',
      required: false,
      default_value: null,
      importance: 'MEDIUM',
      documentation: '',
      group: `${kind.group}: ${alias}`,
      order_in_group: order,
      width: 'NONE',
      display_name: key,
      dependents: [],
      ...definition,
    },
    value: { name, value, recommended_values: [], errors, visible: true },
  }
}
