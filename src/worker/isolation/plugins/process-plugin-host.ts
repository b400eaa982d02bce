import { availableParallelism } from 'node:os'
import type { Clock } from '../../../config/clock.ts'
import { messageOf } from '../../../config/errors.ts'
import type { Logger } from '../../../config/logger.ts'
import { createCatalog } from '../../../plugins/catalog.ts'
import { type Loaded, type PluginFault, resolveConflicts } from '../../../plugins/conflict-resolution.ts'
import type { PluginDescriptor } from '../../../plugins/descriptor.ts'
import { discoverModules } from '../../../plugins/discovery.ts'
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
import type { PluginProcessOptions } from './plugin-messages.ts'
import { PluginModule } from './plugin-module.ts'
import { startPluginProcess } from './plugin-process.ts'

export type ProcessPluginHostOptions = Omit<PluginProcessOptions, 'module'> & {
  readonly pluginPath: readonly string[]
  /** How long a call may take, waiting included. */
  readonly timeoutMs: number
  readonly logger: Logger
  readonly clock: Clock
}

const LOOK_MS = 100
/** What ships is known to load: only a machine that is very busy takes long. Without it no worker starts. */
const SHIPPED_LOAD_MS_MAX = 120_000
/** Modules that are loaded at the same time when a worker starts. */
const LOADING_MAX = Math.max(2, availableParallelism())

/**
 * Plugins in processes of their own, one for each module of `plugin.path` and one for all that ship: what their code does
 * affects nothing but the calls of their own module. A process ends when it is not used, and starts with the next call.
 */
export class ProcessPluginHost implements PluginHost {
  readonly catalog: PluginCatalog
  /** URLs of the modules that plugins beside the shipped ones come from, for threads that run tasks. */
  readonly modules: readonly string[]
  readonly faults: readonly PluginFault[]
  readonly #modules: Modules

  private constructor(modules: Modules, loaded: LoadedModules, { classes }: ConnectorAccess) {
    this.#modules = modules
    this.catalog = restrictConnectors(createCatalog(loaded.plugins), classes)
    this.modules = loaded.urls
    this.faults = loaded.faults
  }

  /** Loads every module. What cannot be loaded is a fault; rejects only when the plugins that ship cannot be. */
  static async open(options: ProcessPluginHostOptions): Promise<ProcessPluginHost> {
    const modules = new Modules(options)
    try {
      return new ProcessPluginHost(modules, await loadAll(modules, options.pluginPath), options.access)
    } catch (error) {
      modules.close()
      throw error
    }
  }

  async call<Operation extends PluginOperation>(
    operation: Operation,
    plugin: PluginName,
    input: PluginInput<Operation>,
  ): Promise<PluginOutput<Operation>> {
    const { kind, class: name, version } = plugin
    const call = { operation, plugin: { kind, class: name, version }, input } as PluginCall
    return (await this.#modules.of(plugin).call(call)) as PluginOutput<Operation>
  }

  close(): void {
    this.#modules.close()
  }
}

type LoadedModules = {
  readonly plugins: readonly PluginDescriptor[]
  readonly urls: readonly string[]
  readonly faults: readonly PluginFault[]
}

async function loadAll(modules: Modules, pluginPath: readonly string[]): Promise<LoadedModules> {
  const found = discoverModules(pluginPath)
  const waiting = found.flatMap((one) => ('url' in one ? [one] : []))
  const loaded = new Map<string, readonly Loaded<PluginDescriptor>[]>()
  const failed = new Map<string, PluginFault>()
  const loadNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { url, file } = next
      try {
        loaded.set(
          url,
          (await modules.load(url)).map((plugin) => ({ file, plugin })),
        )
      } catch (error) {
        failed.set(file, { file, reason: messageOf(error) })
      }
    }
  }
  const loading = Array.from({ length: LOADING_MAX }, loadNext)
  const [shipped] = await Promise.all([modules.load(null), ...loading])
  // In the order of `plugin.path`, however long each took.
  const urls = found.flatMap((one) => ('url' in one && loaded.has(one.url) ? [one.url] : []))
  const chosen = resolveConflicts(
    shipped,
    urls.flatMap((url) => loaded.get(url) ?? []),
  )
  modules.register(null, shipped)
  for (const url of urls) modules.register(url, loaded.get(url)?.map(({ plugin }) => plugin) ?? [])
  const faults = found.flatMap((one) => ('reason' in one ? [one] : (failed.get(one.file) ?? [])))
  return { plugins: [...shipped, ...chosen.plugins], urls, faults: [...faults, ...chosen.faults] }
}

/** The modules by URL, and which of them a plugin comes from. */
class Modules {
  readonly #options: ProcessPluginHostOptions
  readonly #modules = new Map<string | null, PluginModule>()
  readonly #byPlugin = new Map<string, PluginModule>()
  readonly #looking: NodeJS.Timeout

  constructor(options: ProcessPluginHostOptions) {
    this.#options = options
    this.#looking = setInterval(() => {
      for (const module of this.#modules.values()) module.look()
    }, LOOK_MS).unref()
  }

  async load(url: string | null): Promise<readonly PluginDescriptor[]> {
    const { clock, logger, timeoutMs, memoryMbMax, blockedMsMax, loadMsMax, access } = this.#options
    const loadMs = url === null ? Math.max(loadMsMax, SHIPPED_LOAD_MS_MAX) : loadMsMax
    const module = new PluginModule({
      clock,
      timeoutMs,
      open: (handlers) =>
        startPluginProcess({ module: url, memoryMbMax, blockedMsMax, loadMsMax: loadMs, access }, handlers),
      onOutput: (lines, dropped) => {
        for (const line of lines) logger.info({ module: url }, line)
        if (dropped > 0) logger.warn({ module: url, dropped }, 'a plugin printed more lines than are logged')
      },
    })
    this.#modules.set(url, module)
    return module.load()
  }

  /** Of several modules with the same plugin, the first is asked. */
  register(url: string | null, plugins: readonly PluginDescriptor[]): void {
    const module = this.#modules.get(url)
    for (const key of plugins.map(pluginKey)) if (module && !this.#byPlugin.has(key)) this.#byPlugin.set(key, module)
  }

  of(plugin: PluginName): PluginModule {
    const module = this.#byPlugin.get(pluginKey(plugin))
    if (module === undefined) throw new Error(`no module has the ${plugin.kind} ${plugin.class} ${plugin.version}`)
    return module
  }

  close(): void {
    clearInterval(this.#looking)
    for (const module of this.#modules.values()) module.close()
  }
}

function pluginKey({ kind, class: name, version }: PluginName): string {
  return `${kind} ${name} ${version}`
}
