import type { ConfigKey } from '../../clients/worker.ts'
import { below, commaSeparated } from '../../config/settings.ts'
import type { Catalog } from '../../plugins/catalog.ts'
import type { RawConfig } from '../stores/config-codec.ts'
import { type Entry, entriesOf } from './entries.ts'

/** The keys of transforms and predicates, alias by alias. */
export function stepEntries(config: RawConfig, plugins: Catalog): readonly Entry[] {
  const transforms = commaSeparated(config['transforms'] ?? '').flatMap((alias) =>
    transformEntries(alias, config, plugins),
  )
  const predicates = commaSeparated(config['predicates'] ?? '').flatMap((alias) =>
    stepKeys(PREDICATES, alias, config, plugins),
  )
  return [...transforms, ...predicates.map(({ entry }) => entry)]
}

type Kind = {
  readonly prefix: 'transforms' | 'predicates'
  readonly plugin: 'transformation' | 'predicate'
  readonly word: string
  readonly group: string
}

const TRANSFORMS: Kind = { prefix: 'transforms', plugin: 'transformation', word: 'Transformation', group: 'Transforms' }
const PREDICATES: Kind = { prefix: 'predicates', plugin: 'predicate', word: 'Predicate', group: 'Predicates' }

function transformEntries(alias: string, config: RawConfig, plugins: Catalog): readonly Entry[] {
  const keys = stepKeys(TRANSFORMS, alias, config, plugins)
  const settings = below(`transforms.${alias}.`, config)
  if (plugins.find(TRANSFORMS.plugin, settings['type'] ?? '') === undefined) return keys.map(({ entry }) => entry)
  const common = (name: string, definition: Partial<ConfigKey>, value: string | null, errors: string[] = []) =>
    stepEntry(TRANSFORMS, alias, keys.length, name, definition, value, errors)
  const type = keys[0]?.entry
  const negated = settings['negate'] !== undefined && settings['predicate'] === undefined
  return [
    ...(negated && type
      ? [withError(type, `there is no predicate to negate: set transforms.${alias}.predicate`)]
      : keys.slice(0, 1).map(({ entry }) => entry)),
    ...keys.slice(1).map(({ entry }) => entry),
    common(
      'negate',
      {
        type: 'BOOLEAN',
        default_value: 'false',
        documentation: 'Whether the configured predicate should be negated.',
      },
      settings['negate'] ?? 'false',
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

function withError(entry: Entry, message: string): Entry {
  return { ...entry, value: { ...entry.value, errors: [...entry.value.errors, message] } }
}

/** The type, its version, and the keys of the plugin that the type names. */
function stepKeys(kind: Kind, alias: string, config: RawConfig, plugins: Catalog): readonly { entry: Entry }[] {
  const settings = below(`${kind.prefix}.${alias}.`, config)
  const className = settings['type']
  const plugin = className === undefined ? undefined : plugins.find(kind.plugin, className)
  const type = typeEntry(kind, alias, className, plugin !== undefined, plugins)
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
    settings['plugin.version'] ?? plugin?.version ?? null,
  )
  if (!plugin) return [type, version].map((entry) => ({ entry }))
  const own = entriesOf(plugin.config, settings).map((entry, index) => ownEntry(kind, alias, index + 2, entry))
  const versioned = { ...version, value: { ...version.value, recommended_values: [plugin.version] } }
  return [type, versioned, ...own].map((entry) => ({ entry }))
}

function typeEntry(
  kind: Kind,
  alias: string,
  className: string | undefined,
  isKnown: boolean,
  plugins: Catalog,
): Entry {
  const name = `${kind.prefix}.${alias}.type`
  const missing =
    className === undefined
      ? `Missing required configuration "${name}" which has no default value.`
      : `Invalid value ${className} for configuration ${name}: Class ${className} could not be found.`
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
    isKnown ? (className ?? null) : null,
    isKnown ? [] : [missing],
  )
  return {
    ...entry,
    value: { ...entry.value, recommended_values: plugins.list(kind.plugin).map((known) => known.class) },
  }
}

function ownEntry(kind: Kind, alias: string, order: number, { definition, value }: Entry): Entry {
  const prefix = `${kind.prefix}.${alias}.`
  const rename = (message: string) =>
    message
      .replace(`configuration "${value.name}"`, `configuration "${prefix}${value.name}"`)
      .replace(`configuration ${value.name}:`, `configuration ${prefix}${value.name}:`)
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
  definition: Partial<ConfigKey>,
  value: string | null,
  errors: readonly string[] = [],
): Entry {
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
