import type { KnownPlugin } from '../../../plugins/load-modules.ts'
import type { Catalog } from '../../../plugins/plugin-catalog.ts'
import type { RawConfig } from '../../../sdk/index.ts'
import {
  type ConfigProblem,
  type ConfigProviderInstance,
  type ConfigValue,
  describeConfig,
  type HostAccess,
  type Plugin,
  type ProviderUse,
  parseConfig,
  UNRESTRICTED,
  validateConfig,
  type z,
} from '../../../sdk/index.ts'
import { accessProblem, invalidValueMessage } from '../../host-access/config-value-access.ts'
import { type ConnectorAccess, providerUse } from '../../host-access/connector-access.ts'
import { hostAccess } from '../../host-access/host-access.ts'
import type {
  ConverterInput,
  ExactlyOnceFeature,
  GeneratedTaskConfigs,
  OffsetAlteration,
  PluginCall,
  PluginInput,
  PluginName,
} from '../../plugin-host.ts'
import type { PayloadConverter } from './payload-converter.ts'

/** Limit of the number of tasks that a connector may return. */
const TASKS_MAX = 10_000
/** Limit of the size of a result, which is sent to another process and stored in a topic. */
const RESULT_CHARACTERS_MAX = 16_777_216
/** Lower bound of the interval at which task configurations are generated anew, in ms. */
const REGENERATION_MS_MIN = 100

type Connector = Extract<Plugin, { kind: 'source' | 'sink' }>

/** Finds the plugin of a call; undefined if there is none. */
type FindPlugin = (plugin: PluginName) => Promise<Plugin | undefined> | Plugin | undefined

/** Finds the plugin of a call among these. */
export function findAmong(plugins: readonly Plugin[]): FindPlugin {
  return ({ kind, class: name, version }) =>
    plugins.find((plugin) => plugin.kind === kind && plugin.class === name && plugin.version === version)
}

/** Executes the calls of a `PluginHost` in the process that loaded the plugins. Returns plain data of bounded size. */
export class PluginExecutor {
  readonly #find: FindPlugin
  readonly #catalog: () => Promise<Catalog<KnownPlugin>>
  /** The hosts and files that connectors and converters may use; config providers use `#providerUse`. */
  readonly #access: HostAccess
  readonly #providerUse: ProviderUse
  /** By class and configuration. */
  readonly #providers = new Map<string, ConfigProviderInstance>()

  /** `catalog` resolves to all plugins that this process can use together. */
  constructor(find: FindPlugin, access: ConnectorAccess, catalog: () => Promise<Catalog<KnownPlugin>>) {
    this.#find = find
    this.#catalog = catalog
    this.#access = hostAccess(access.host)
    this.#providerUse = providerUse(access)
  }

  async execute({ operation, plugin, input }: PluginCall): Promise<unknown> {
    const found = await this.#find(plugin)
    if (found === undefined) throw new Error(`its module no longer exports ${plugin.class} ${plugin.version}`)
    switch (operation) {
      case 'validate-config':
        return validate(found, input, this.#access)
      case 'make-tasks':
        return makeTasks(found as Connector, input, this.#access)
      case 'alter-offsets':
        return alterOffsets(found, input)
      case 'exactly-once-support':
        return supports(found, input.feature) ? 'supported' : 'unsupported'
      case 'create-provider':
        this.#provider(found, input.config)
        return null
      case 'read-values': {
        const { path, keys } = input
        const values = await this.#provider(found, input.config).read(path, keys)
        return toStrings(values, `the values of ${plugin.class}`, newBudget())
      }
      case 'decode-payloads':
        return (await this.#payloadConverter(found, input)).decode(input.payloads)
      case 'encode-payload':
        return (await this.#payloadConverter(found, input)).encode(input.original, input.edited)
      case 'preview-records': {
        const { previewRecords } = await import('./record-preview.ts')
        return previewRecords(input, await this.#catalog(), this.#access)
      }
    }
  }

  async #payloadConverter(plugin: Plugin, { config, isKey, isOfConnector }: ConverterInput): Promise<PayloadConverter> {
    if (plugin.kind !== 'converter') throw new Error(`${plugin.class} is not a converter`)
    const { PayloadConverter } = await import('./payload-converter.ts')
    // As in tasks, only converters from the connector's configuration are restricted, not the worker's default ones.
    const { files, network } = isOfConnector ? this.#access : UNRESTRICTED
    return new PayloadConverter(plugin, config, { files, network, isKey })
  }

  #provider(plugin: Plugin, config: RawConfig): ConfigProviderInstance {
    if (plugin.kind !== 'provider') throw new Error(`${plugin.class} is not a config provider`)
    const key = JSON.stringify([plugin.class, config])
    const provider = this.#providers.get(key) ?? plugin.create(parseConfig(plugin.config, config), this.#providerUse)
    this.#providers.set(key, provider)
    return provider
  }
}

/** Time of a connector to validate its configuration against the external system, in ms. Less than that of the request, which it answers. */
const VALIDATION_TIMEOUT_MS = 80_000
/** Limit of the number of problems that a connector may report. */
const PROBLEMS_MAX = 100

async function validate(
  plugin: Plugin,
  { config, connects = false }: PluginInput<'validate-config'>,
  access: HostAccess,
): Promise<readonly ConfigValue[]> {
  const values = validateConfig(plugin.config, config).map((value) => withAccessError(value, plugin.config, access))
  const isConnector = plugin.kind === 'source' || plugin.kind === 'sink'
  const isValid = values.every(({ errors }) => errors.length === 0)
  if (!connects || !isConnector || !isValid || plugin.validate === undefined) return values.map(toPlainValue)
  const use = { ...access, signal: AbortSignal.timeout(VALIDATION_TIMEOUT_MS) }
  const found: unknown = await plugin.validate(parseConfig(plugin.config, config), use)
  if (!Array.isArray(found))
    throw new Error(`validate() did not return an array of problems, but a value of type ${typeof found}`)
  const problems = found.slice(0, PROBLEMS_MAX).map(toProblem)
  const others = problems.filter(({ key }) => !values.some(({ name }) => name === key)).map(({ key }) => key)
  const all = [...values, ...[...new Set(others)].map((name) => ({ name, value: config[name] ?? null, errors: [] }))]
  return all
    .map((value) => ({
      ...value,
      errors: [...value.errors, ...problems.filter(({ key }) => key === value.name).map(({ message }) => message)],
    }))
    .map(toPlainValue)
}

/** Problems come from the plugin, so they are converted to plain data. */
function toProblem(problem: unknown): ConfigProblem {
  const { key, message } = (problem ?? {}) as Partial<ConfigProblem>
  return { key: String(key), message: String(message) }
}

/**
 * Generates the task configurations of a connector. Without a `tasks()` method, a source has one task and a sink has
 * `tasksMax` tasks, which share the partitions as one consumer group.
 */
async function makeTasks(
  plugin: Connector,
  { config, tasksMax }: PluginInput<'make-tasks'>,
  access: HostAccess,
): Promise<GeneratedTaskConfigs> {
  const own = parseConfig(plugin.config, config)
  const againMs = plugin.kind === 'source' ? plugin.tasksAgainMs?.(own) : undefined
  if (againMs !== undefined && !(againMs > 0))
    throw new Error(`tasksAgainMs() returned ${againMs}: expected a positive number of ms`)
  const common = {
    ...(plugin.taskClass !== undefined && { taskClass: String(plugin.taskClass) }),
    againMs: againMs === undefined ? null : Math.max(againMs, REGENERATION_MS_MIN),
  }
  if (!plugin.tasks) {
    const count = plugin.kind === 'sink' ? tasksMax : 1
    return { configs: Array.from({ length: count }, () => config), ...common }
  }
  const generated: unknown = await plugin.tasks(own, tasksMax, config, access)
  if (!Array.isArray(generated))
    throw new Error(`tasks() did not return an array of configurations, but a value of type ${typeof generated}`)
  if (generated.length > TASKS_MAX)
    throw new Error(`tasks() returned ${generated.length} tasks, at most ${TASKS_MAX} are allowed`)
  const budget = newBudget()
  const configs = generated.map((task: unknown, at) => toStrings(task, `tasks() returned task ${at}, which`, budget))
  return { configs, ...common }
}

async function alterOffsets(
  plugin: Plugin,
  { config, offsets }: PluginInput<'alter-offsets'>,
): Promise<OffsetAlteration> {
  if (plugin.kind !== 'source') throw new Error(`${plugin.class} is not a source`)
  // Null partitions are passed as well; rejecting them is up to the plugin.
  await plugin.alterOffsets?.(parseConfig(plugin.config, config), offsets as never)
  return 'altered'
}

/** The worker itself delivers exactly once, so every source of the SDK supports that. */
function supports(plugin: Plugin, feature: ExactlyOnceFeature): boolean {
  return plugin.kind === 'source' && (feature === 'delivery' || plugin.definesTransactions === true)
}

type Budget = { characters: number }

function newBudget(): Budget {
  return { characters: RESULT_CHARACTERS_MAX }
}

/** Copies own enumerable keys only. Throws when a value is not a string or the budget is exceeded. */
function toStrings(value: unknown, what: string, budget: Budget): RawConfig {
  if (typeof value !== 'object' || value === null) throw new Error(`${what} is not an object of strings`)
  const copy = Object.entries(value).flatMap(([key, text]: [string, unknown]) => {
    if (text === undefined) return []
    if (typeof text !== 'string')
      throw new Error(`${what} has a value of type ${typeof text} for '${key}': expected a string`)
    budget.characters -= key.length + text.length
    if (budget.characters < 0)
      throw new Error(`${what} exceeds the limit of ${RESULT_CHARACTERS_MAX} characters in total`)
    return [[key, text] as const]
  })
  return Object.fromEntries(copy)
}

/**
 * Reports a value that refers to a host, file or class that is not allowed as an error of its key, before anything is
 * opened.
 */
function withAccessError(value: ConfigValue, spec: z.ZodObject, access: HostAccess): ConfigValue {
  if (value.value === null || value.errors.length > 0) return value
  const reaches = describeConfig(spec).find(({ name }) => name === value.name)?.reaches ?? null
  const problem = reaches === null ? undefined : accessProblem(reaches, value.value, access)
  return problem === undefined ? value : { ...value, errors: [invalidValueMessage(value.name, problem)] }
}

const MESSAGE_LENGTH_MAX = 10_000

/** The messages of zod's checks come from the plugin, so they are converted to strings and truncated. */
function toPlainValue({ name, value, errors }: ConfigValue): ConfigValue {
  return { name, value, errors: errors.map((message) => String(message).slice(0, MESSAGE_LENGTH_MAX)) }
}
