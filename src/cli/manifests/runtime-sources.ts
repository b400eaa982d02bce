import { RequestError } from '../../clients/http-client.ts'
import { createRegistryClient } from '../../clients/registry-client.ts'
import { createWorkerClient } from '../../clients/worker-client.ts'
import { systemClock } from '../../common/clock.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import {
  type ManifestDirectory,
  type OperatorConfiguration,
  type RegistryReader,
  RegistrySnapshot,
  RUNTIME_DEFAULTS,
  type RuntimesConfig,
  readConfiguration,
  type SimulationOptions,
  type WorkerReader,
} from '../../operator/simulation.ts'
import type { ConfigValidator } from '../../worker/config-validator.ts'
import { readArchive } from '../archive/archive-files.ts'
import { UsageError } from '../command.ts'
import { installCommand } from '../plugins/known-coordinates.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, type ConnectionValues, endpointOf } from '../runtime-connection.ts'

/** Options of the commands that apply manifests to a simulation of the runtimes. */
export const SOURCE_OPTIONS = {
  ...CONNECTION_OPTIONS,
  registry: { type: 'string', multiple: true },
  worker: { type: 'string', multiple: true },
  snapshot: { type: 'string', multiple: true },
  against: { type: 'string' },
  config: { type: 'string' },
  instance: { type: 'string' },
  'plugin-path': { type: 'string', multiple: true },
} as const

export const SOURCE_HELP = `  --registry [NAME=]URL   a live registry; NAME is that of registryRef, default: default; may be repeated
  --worker [NAME=]URL     a live worker; NAME is that of workerRef; may be repeated
  --snapshot [NAME=]PATH  what weir export wrote, instead of a live registry; may be repeated
  --against REV           the manifests of this git revision count as applied
  --config FILE           the operator's configuration file: its runtimes, and the rules of each
  --instance NAME         name of the operator's installation, as in weir operator --instance
  --plugin-path PATH      where to find plugins, if no worker is given; as in a worker's plugin.path
${CONNECTION_HELP}`

export type SourceValues = ConnectionValues & {
  readonly registry?: readonly string[] | undefined
  readonly worker?: readonly string[] | undefined
  readonly snapshot?: readonly string[] | undefined
  readonly config?: string | undefined
  readonly instance?: string | undefined
  readonly 'plugin-path'?: readonly string[] | undefined
}

/** What manifests are compared with. */
export type RuntimeSources = SimulationOptions & {
  /** Names of the registries that are assumed to be empty, because no option names their content. */
  readonly emptyRegistries: () => readonly string[]
  close(): Promise<void>
}

/** `declared`: the manifests, whose references name the runtimes if there is no configuration file. */
export function openRuntimeSources(
  values: SourceValues,
  declared: readonly Pick<ManifestDirectory, 'resources'>[],
): RuntimeSources {
  const { registry: _, ...credentials } = values
  const registries = namedValues(values.registry)
  const workers = namedValues(values.worker)
  const snapshots = namedValues(values.snapshot)
  const configured = values.config === undefined ? undefined : configurationAt(values.config)
  const runtimesConfig = configured?.runtimesConfig ?? runtimesNamedBy(declared, [registries, snapshots], workers)
  const instance = values.instance ?? configured?.instance
  const readers = new Map<string, RegistryReader>()
  const empty = new Set<string>()
  const plugins = new InstalledPlugins(values['plugin-path'] ?? [])
  const isLive = registries.size + workers.size + snapshots.size === 0
  const configuredEndpoint = (kind: 'registries' | 'workers', name: string) => {
    const found = isLive ? configured?.runtimesConfig[kind].find((runtime) => runtime.name === name) : undefined
    return found !== undefined && 'endpoint' in found
      ? { ...found.endpoint, timeoutMs: found.requestTimeoutMs }
      : undefined
  }
  const timeoutMs = RUNTIME_DEFAULTS.requestTimeoutMs
  const openRegistry = (name: string): RegistryReader => {
    const [url, path] = [registries.get(name), snapshots.get(name)]
    if (path !== undefined) return new RegistrySnapshot(readArchive(path))
    const endpoint =
      url === undefined
        ? configuredEndpoint('registries', name)
        : { ...endpointOf('--registry', url, credentials), timeoutMs }
    if (endpoint !== undefined) return failingFast(createRegistryClient(endpoint))
    empty.add(name)
    return new RegistrySnapshot({ contexts: [], subjects: [] })
  }
  const openWorker = (name: string): WorkerReader => {
    const url = workers.get(name)
    const endpoint =
      url === undefined
        ? configuredEndpoint('workers', name)
        : { ...endpointOf('--worker', url, credentials), timeoutMs }
    return endpoint === undefined ? plugins : failingFast(createWorkerClient(endpoint))
  }
  const workerReaders = new Map<string, WorkerReader>()
  return {
    runtimesConfig,
    registry: (name) => getOrCreate(readers, name, () => openRegistry(name)),
    worker: (name) => getOrCreate(workerReaders, name, () => openWorker(name)),
    ...(instance !== undefined && { instance }),
    operatorNamespace: 'default',
    clock: systemClock,
    emptyRegistries: () => [...empty],
    close: () => plugins.close(),
  }
}

function configurationAt(path: string): OperatorConfiguration {
  try {
    return readConfiguration(path)
  } catch (error) {
    throw new UsageError(`--config ${messageOf(error)}`)
  }
}

/** The values of an option by the name before their `=`. */
export function namedValues(values: readonly string[] = []): ReadonlyMap<string, string> {
  const named = new Map<string, string>()
  for (const text of values) {
    const [, name = 'default', value = text] = /^([a-z0-9][a-z0-9.-]*)=(.+)$/s.exec(text) ?? []
    if (named.has(name)) throw new UsageError(`${text}: the runtime ${name} is given twice: write NAME=${value}`)
    named.set(name, value)
  }
  return named
}

/** Every runtime that a manifest or an option names, with the default rules. */
function runtimesNamedBy(
  declared: readonly Pick<ManifestDirectory, 'resources'>[],
  registrySources: readonly ReadonlyMap<string, string>[],
  workers: ReadonlyMap<string, string>,
): RuntimesConfig {
  const names = {
    workers: new Set(workers.keys()),
    registries: new Set(registrySources.flatMap((one) => [...one.keys()])),
  }
  for (const { resources } of declared) {
    for (const { kind, spec } of resources) {
      if (kind === 'Connector') names.workers.add(spec.workerRef.name)
      else names.registries.add(spec.registryRef.name)
    }
  }
  const entries = (all: ReadonlySet<string>) =>
    [...all].map((name) => ({ ...RUNTIME_DEFAULTS, name, endpoint: { url: 'http://127.0.0.1' } }))
  return { workers: entries(names.workers), registries: entries(names.registries) }
}

/**
 * A client that does not ask a server again that did not respond: thousands of timeouts would take hours, and all lead
 * to the same verdict.
 */
function failingFast<Client extends object>(client: Client): Client {
  let failure: RequestError | undefined
  type Call = (...args: readonly unknown[]) => Promise<unknown>
  const calls = Object.entries(client as Record<string, Call>).map(([name, call]) => {
    const guarded: Call = async (...args) => {
      if (failure !== undefined) throw failure
      try {
        return await call(...args)
      } catch (error) {
        if (error instanceof RequestError && error.status === 0) failure = error
        throw error
      }
    }
    return [name, guarded]
  })
  return Object.fromEntries(calls) as Client
}

/** A worker without connectors whose plugins are those of this machine. */
class InstalledPlugins implements WorkerReader {
  readonly #pluginPath: readonly string[]
  #validator: Promise<ConfigValidator> | undefined

  constructor(pluginPath: readonly string[]) {
    this.#pluginPath = pluginPath
  }

  async get(name: string): Promise<never> {
    throw new RequestError(404, 404, `Connector ${name} not found`)
  }

  status(name: string): Promise<never> {
    return this.get(name)
  }

  async offsets(): Promise<readonly []> {
    return []
  }

  async validate(plugin: string, config: Readonly<Record<string, string>>) {
    this.#validator ??= import('../../worker/config-validator.ts').then(({ openConfigValidator }) =>
      openConfigValidator(this.#pluginPath),
    )
    const validator = await this.#validator
    if (!validator.has(plugin)) {
      const message =
        `the connector class '${plugin}' is not installed on this machine: run '${installCommand(plugin)}' and give ` +
        '--plugin-path DIR, or give --worker URL'
      throw new RequestError(0, 0, message, { retriable: true })
    }
    try {
      return await validator.validate(config)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      // As in the response of a worker: an invalid configuration is final, a failure of plugin code is not.
      const isFinal = error.code === 'invalid_config'
      throw new RequestError(isFinal ? 400 : 500, 0, messageOf(error), { cause: error })
    }
  }

  async close(): Promise<void> {
    await (await this.#validator)?.close()
  }
}

function getOrCreate<Value>(known: Map<string, Value>, name: string, create: () => Value): Value {
  const value = known.get(name) ?? create()
  known.set(name, value)
  return value
}
