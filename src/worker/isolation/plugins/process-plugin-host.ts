import { availableParallelism } from 'node:os'
import type { Clock } from '../../../common/clock.ts'
import { messageOf } from '../../../common/errors.ts'
import type { LogLimits } from '../../../common/logging/log-rate-limiter.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { type Loaded, type PluginFault, resolveConflicts } from '../../../plugins/conflict-resolution.ts'
import { discoverModules } from '../../../plugins/discover-modules.ts'
import { createCatalog } from '../../../plugins/plugin-catalog.ts'
import type { PluginDescriptor } from '../../../plugins/plugin-descriptor.ts'
import { shippedPlugins } from '../../../plugins/shipped-plugins.ts'
import { restrictConnectors } from '../../host-access/class-rules.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import type {
  PluginCall,
  PluginCatalog,
  PluginHost,
  PluginInput,
  PluginName,
  PluginOperation,
  PluginOutput,
} from '../../plugin-host.ts'
import { JavaPluginHost, type JavaPluginHostOptions } from '../java/java-plugin-host.ts'
import type { PluginModules } from '../plugin-modules.ts'
import type { PluginProcessOptions } from './plugin-messages.ts'
import { startPluginProcess } from './plugin-process.ts'
import { PluginProcessPool } from './plugin-process-pool.ts'

export type ProcessPluginHostOptions = Omit<PluginProcessOptions, 'module'> & {
  readonly pluginPath: readonly string[]
  readonly java: JavaPluginHostOptions
  /** How long a call without a signal may run, in ms. */
  readonly timeoutMs: number
  /** Limits of what the plugins of a module log. */
  readonly log: LogLimits
  readonly logger: Logger
  readonly clock: Clock
}

const CHECK_INTERVAL_MS = 100
/** Load timeout of the process of shipped plugins, in ms. It is long, because it is exceeded only on an overloaded machine. */
const SHIPPED_LOAD_MS_MAX = 120_000
/** How long the process of shipped plugins is kept without calls, in ms: it needs 25 MB, and 0.15 s of CPU time to start again. */
const SHIPPED_IDLE_MS = 5_000
/** Number of modules that are loaded concurrently at the start of a worker. */
const CONCURRENT_LOADS_MAX = Math.max(2, availableParallelism())

/**
 * Runs plugins in separate processes: one per module of `plugin.path` and one for all shipped plugins. Plugin code can
 * only affect calls to its own module. An idle process ends; the next call starts it, and so does the first call to a
 * shipped plugin. Java plugins run in the JVMs of a
 * `JavaPluginHost`.
 */
export class ProcessPluginHost implements PluginHost {
  readonly catalog: PluginCatalog
  readonly modules: PluginModules
  readonly java: JavaPluginHost
  readonly faults: readonly PluginFault[]
  readonly #modules: Modules

  private constructor(modules: Modules, java: JavaPluginHost, loaded: LoadedModules, { classes }: ConnectorAccess) {
    this.#modules = modules
    this.java = java
    this.catalog = restrictConnectors(createCatalog(loaded.plugins), classes)
    this.modules = { urls: loaded.urls, java: java.modules }
    this.faults = loaded.faults
  }

  /**
   * Loads all modules of `plugin.path`. A module that cannot be loaded is reported in `faults`; rejects only when the shipped
   * plugins have no valid descriptions, or `plugin.discovery` forbids what was found.
   */
  static async open(options: ProcessPluginHostOptions): Promise<ProcessPluginHost> {
    const java = await JavaPluginHost.open(options)
    const modules = new Modules(options)
    try {
      return new ProcessPluginHost(modules, java, await loadAll(modules, options.pluginPath, java), options.access)
    } catch (error) {
      modules.close()
      await java.close()
      throw error
    }
  }

  async call<Operation extends PluginOperation>(
    operation: Operation,
    plugin: PluginName,
    input: PluginInput<Operation>,
    signal?: AbortSignal,
  ): Promise<PluginOutput<Operation>> {
    const { kind, class: name, version } = plugin
    const call = { operation, plugin: { kind, class: name, version }, input } as PluginCall
    const output = this.java.has(plugin) ? this.java.call(call, signal) : this.#modules.of(plugin).call(call, signal)
    return (await output) as PluginOutput<Operation>
  }

  async close(): Promise<void> {
    this.#modules.close()
    await this.java.close()
  }
}

type LoadedModules = {
  readonly plugins: readonly PluginDescriptor[]
  readonly urls: readonly string[]
  readonly faults: readonly PluginFault[]
}

async function loadAll(modules: Modules, pluginPath: readonly string[], java: JavaPluginHost): Promise<LoadedModules> {
  const found = discoverModules(pluginPath)
  const queue = found.flatMap((one) => ('url' in one ? [one] : []))
  const loaded = new Map<string, readonly Loaded<PluginDescriptor>[]>()
  const failed = new Map<string, PluginFault>()
  const loadNext = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { url, file } = next
      try {
        loaded.set(
          url,
          (await modules.open(url).load()).map((plugin) => ({ file, plugin })),
        )
      } catch (error) {
        failed.set(file, { file, reason: messageOf(error) })
      }
    }
  }
  const loading = Array.from({ length: CONCURRENT_LOADS_MAX }, loadNext)
  await Promise.all(loading)
  const shipped = await shippedPlugins()
  // In the order of `plugin.path`, independent of the loading times.
  const urls = found.flatMap((one) => ('url' in one && loaded.has(one.url) ? [one.url] : []))
  const chosen = resolveConflicts(shipped, [...urls.flatMap((url) => loaded.get(url) ?? []), ...java.loaded])
  modules.open(null)
  modules.register(null, shipped)
  for (const url of urls) modules.register(url, loaded.get(url)?.map(({ plugin }) => plugin) ?? [])
  const faults = found.flatMap((one) => ('reason' in one ? [one] : (failed.get(one.file) ?? [])))
  return { plugins: chosen.plugins, urls, faults: [...faults, ...java.faults, ...chosen.faults] }
}

/** The modules by URL, and the module of each plugin. */
class Modules {
  readonly #options: ProcessPluginHostOptions
  readonly #modules = new Map<string | null, PluginProcessPool>()
  readonly #byPlugin = new Map<string, PluginProcessPool>()
  readonly #checkTimer: NodeJS.Timeout

  constructor(options: ProcessPluginHostOptions) {
    this.#options = options
    this.#checkTimer = setInterval(() => {
      for (const module of this.#modules.values()) module.check()
    }, CHECK_INTERVAL_MS).unref()
  }

  /** Prepares a module, whose process is started by the first call. */
  open(url: string | null): PluginProcessPool {
    const { clock, logger, log, timeoutMs, memoryMbMax, blockedMsMax, loadMsMax, access } = this.#options
    const loadMs = url === null ? Math.max(loadMsMax, SHIPPED_LOAD_MS_MAX) : loadMsMax
    const module = new PluginProcessPool({
      clock,
      logger,
      timeoutMs,
      ...(url === null && { idleMs: SHIPPED_IDLE_MS }),
      open: (handlers) =>
        startPluginProcess(
          { module: url, memoryMbMax, blockedMsMax, loadMsMax: loadMs, access },
          { logger, log },
          handlers,
        ),
    })
    this.#modules.set(url, module)
    return module
  }

  /** When several modules export the same plugin, calls go to the first one. */
  register(url: string | null, plugins: readonly PluginDescriptor[]): void {
    const module = this.#modules.get(url)
    for (const key of plugins.map(pluginKey)) if (module && !this.#byPlugin.has(key)) this.#byPlugin.set(key, module)
  }

  of(plugin: PluginName): PluginProcessPool {
    const module = this.#byPlugin.get(pluginKey(plugin))
    if (module === undefined) throw new Error(`no module exports the ${plugin.kind} ${plugin.class} ${plugin.version}`)
    return module
  }

  close(): void {
    clearInterval(this.#checkTimer)
    for (const module of this.#modules.values()) module.close()
  }
}

function pluginKey({ kind, class: name, version }: PluginName): string {
  return `${kind} ${name} ${version}`
}
