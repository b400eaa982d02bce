import type { Clock } from '../../../common/clock.ts'
import { messageOf } from '../../../common/errors.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { packageVersion } from '../../../common/package-version.ts'
import { describeLocation } from '../../../java/describe-location.ts'
import {
  type DiscoveredLocation,
  type DiscoveryMode,
  type DiscoveryProgress,
  type JavaDiscovery,
  manifestWarning,
} from '../../../java/discovery/discover-plugins.ts'
import { DiscoveryCache } from '../../../java/discovery/discovery-cache.ts'
import { discoverInThread } from '../../../java/discovery/discovery-thread.ts'
import type { HostConnection } from '../../../java/host-connection.ts'
import { type HostLogLine, type LogLevelSource, taskOfContext } from '../../../java/host-log.ts'
import { type HostLease, JavaHostPool } from '../../../java/java-host-pool.ts'
import type { JavaModule } from '../../../java/java-module.ts'
import type { JavaRuntime } from '../../../java/java-runtime.ts'
import type {
  JavaLocationDescription,
  JavaPluginDescription,
  JavaPluginLocation,
} from '../../../java/plugin-location.ts'
import type { Loaded, PluginFault } from '../../../plugins/conflict-resolution.ts'
import type { PluginDescriptor } from '../../../plugins/plugin-descriptor.ts'
import type { ConfigValue } from '../../../sdk/index.ts'
import { WorkerError } from '../../model/worker-error.ts'
import type { PluginMetric } from '../../observability/plugin-metrics.ts'
import type { PluginCall, PluginName } from '../../plugin-host.ts'
import { JavaCalls } from './java-calls.ts'
import { JavaConnectors, type OffsetReader } from './java-connectors.ts'
import { readJavaMetrics } from './java-metrics.ts'

export type JavaPluginHostOptions = {
  readonly runtime: JavaRuntime
  readonly discovery: DiscoveryMode
  readonly idleMs: number
  /** Where JVMs log to, and the levels of their loggers. Default: to the logger of the worker's plugins, from INFO. */
  readonly logging?: { readonly logger: Logger; readonly levels: LogLevelSource }
}

const DEFAULT_LEVELS: LogLevelSource = { current: () => [], onChange: () => undefined }

type Dependencies = {
  readonly java: JavaPluginHostOptions
  readonly pluginPath: readonly string[]
  /** How long a call without a signal may run, in ms. */
  readonly timeoutMs: number
  /** How long a JVM may take to start, and to describe a location, in ms of its own time. */
  readonly loadMsMax: number
  readonly logger: Logger
  readonly clock: Clock
}

type JavaLocation = { readonly location: JavaPluginLocation; readonly plugins: readonly JavaPluginDescription[] }

/** Interval at which the progress of discovery is logged, in ms. */
const PROGRESS_MS = 5_000
/** Part of the names of cached files. Increase it when the format of descriptions changes. */
const CACHE_VERSION = 5

/** The Java plugins of `plugin.path`, and the JVMs that they run in. */
export class JavaPluginHost {
  readonly faults: readonly PluginFault[]
  readonly #locations: readonly JavaLocation[]
  readonly #hosts: JavaHostPool
  readonly #calls: JavaCalls
  readonly #connectors: JavaConnectors
  #readOffsets: OffsetReader = () => Promise.reject(new Error('the worker has not yet read the stored offsets'))

  private constructor(dependencies: Dependencies, locations: readonly JavaLocation[], faults: readonly PluginFault[]) {
    const { java, timeoutMs, loadMsMax, logger, clock } = dependencies
    const log = java.logging?.logger ?? logger
    this.#locations = locations
    this.faults = faults
    this.#hosts = new JavaHostPool({
      runtime: java.runtime,
      idleMs: java.idleMs,
      startMsMax: loadMsMax,
      onLog: (location, line) => logLine(log, location, line),
      logLevels: java.logging?.levels ?? DEFAULT_LEVELS,
    })
    this.#calls = new JavaCalls({ hosts: this.#hosts, logger: log, timeoutMs, clock })
    this.#connectors = new JavaConnectors({
      calls: this.#calls,
      monotonicMs: () => clock.monotonicMs(),
      readOffsets: (connector, config) => this.#readOffsets(connector, config),
    })
  }

  /** Finds and describes the plugins. A location that cannot be used is a fault. Starts Java only for new files. */
  static async open(dependencies: Dependencies): Promise<JavaPluginHost> {
    const { java, logger } = dependencies
    const cache = DiscoveryCache.ofUser()
    const found = await discover(dependencies, cache)
    const warning = manifestWarning(java.discovery, found)
    if (warning !== undefined) logger.warn(warning)
    const faults: PluginFault[] = [...found.faults]
    const locations: JavaLocation[] = []
    for (const discovered of found.locations) {
      const { location } = discovered
      try {
        const described = await describe(discovered, dependencies, cache)
        locations.push({ location, plugins: described.plugins })
        faults.push(
          ...described.faults.map(({ reason }) => ({ file: location.path, reason, isWarning: true as const })),
        )
      } catch (error) {
        faults.push({ file: location.path, reason: messageOf(error) })
      }
    }
    return new JavaPluginHost(dependencies, locations, faults)
  }

  /** The plugins of all locations, in the order of `plugin.path`. */
  get loaded(): readonly (Loaded<PluginDescriptor> & { readonly isJava: true })[] {
    return this.#locations.flatMap(({ location, plugins }) =>
      plugins.map((plugin) => ({ file: location.path, plugin: toDescriptor(plugin), isJava: true as const })),
    )
  }

  /** The locations in the form that is sent to the threads that run tasks. */
  get modules(): readonly JavaModule[] {
    return this.#locations.map(({ location, plugins }) => ({
      location: location.path,
      address: this.#hosts.addressOf(location),
      plugins,
    }))
  }

  /** Sets the reader of the offsets that connectors ask for. They are stored in Kafka, which plugins do not need. */
  setOffsetReader(read: OffsetReader): void {
    this.#readOffsets = read
  }

  /** The metrics that plugins have registered in the JVMs that are in use. */
  metrics(): Promise<readonly PluginMetric[]> {
    return readJavaMetrics(this.#hosts.addressesInUse)
  }

  /** Number of JVMs that have ended although plugins used them. */
  get exits(): number {
    return this.#hosts.exits
  }

  has(plugin: PluginName): boolean {
    return this.#find(plugin) !== undefined
  }

  /** Keeps the JVM of a plugin running. Rejects with a `UserError` when it does not start. */
  lease(locationPath: string): Promise<HostLease> {
    const found = this.#locations.find(({ location }) => location.path === locationPath)
    if (found === undefined) throw new Error(`${locationPath} is no location of Java plugins`)
    return this.#hosts.lease(found.location)
  }

  async call({ operation, plugin, input }: PluginCall, signal?: AbortSignal): Promise<unknown> {
    const location = this.#find(plugin)
    if (location === undefined) throw new Error(`${plugin.class} is no Java plugin`)
    const { kind, class: className } = plugin
    const once = <T>(call: (connection: HostConnection) => Promise<T>) =>
      this.#calls.once(location, plugin, call, signal)
    switch (operation) {
      case 'validate-config': {
        const argument = { kind, class: className, config: input.config }
        return once(async (host) => toConfigValues(await host.call('validate', argument)))
      }
      case 'make-tasks':
        return this.#connectors.tasks(location, plugin, input, signal)
      case 'alter-offsets': {
        const offsets = input.offsets.map(({ partition, offset }) => [partition, offset])
        const argument = { class: className, config: input.config, offsets }
        return once((host) => host.call('connector.alter-offsets', argument))
      }
      case 'exactly-once-support':
        return once((host) => host.call('connector.support', { class: className, ...input }))
      case 'create-provider':
        await once((host) => host.call('provider.create', { class: className, config: input.config }))
        return null
      case 'read-values':
        return once((host) => host.call('provider.read', { class: className, ...input }))
      case 'decode-payloads':
      case 'encode-payload':
        throw new WorkerError('plugin_failed', `${className} is a Java converter, which is used in tasks only`)
      case 'preview-records':
        throw new WorkerError('plugin_failed', `${className} is a Java plugin, with which no preview is possible`)
    }
  }

  async close(): Promise<void> {
    this.#connectors.close()
    await this.#hosts.close()
  }

  #find({ kind, class: name, version }: PluginName): JavaPluginLocation | undefined {
    const isMeant = (plugin: JavaPluginDescription) =>
      plugin.kind === kind && plugin.class === name && plugin.version === version
    return this.#locations.find(({ plugins }) => plugins.some(isMeant))?.location
  }
}

/** Finds the plugins, and logs the progress of a search that takes long. */
async function discover({ java, pluginPath, logger }: Dependencies, cache: DiscoveryCache): Promise<JavaDiscovery> {
  let progress: DiscoveryProgress | undefined
  const timer = setInterval(() => logger.info({ ...progress }, 'still looking for Java plugins'), PROGRESS_MS).unref()
  try {
    const data = { pluginPath, mode: java.discovery, cacheDirectory: cache.directory }
    return await discoverInThread(data, (next) => {
      progress = next
    })
  } finally {
    clearInterval(timer)
  }
}

/**
 * Describes the plugins of a location. Starts a JVM only if the cache has no description of exactly these files. A description
 * with faults that may pass is not cached.
 */
async function describe(
  { location, hash, classes }: DiscoveredLocation,
  { java, loadMsMax, logger }: Dependencies,
  cache: DiscoveryCache,
): Promise<JavaLocationDescription> {
  // Another release has another Java host, which may have classes that plugins lack.
  const release = `${packageVersion()}-${CACHE_VERSION}`
  const name = `plugins-${release}-${java.discovery === 'service_load' ? 'manifests' : 'scan'}-${hash}.json`
  const known = (await cache.read(name)) as JavaLocationDescription | undefined
  if (known !== undefined) return known
  const described = await describeLocation(location, {
    runtime: java.runtime,
    classes,
    timeoutMs: loadMsMax,
    onLog: (line) => logLine(logger, location, line),
  })
  if (described.faults.every(({ isLasting }) => isLasting)) await cache.write(name, described)
  return described
}

function toDescriptor({ kind, class: name, version, definitions }: JavaPluginDescription): PluginDescriptor {
  return {
    kind,
    class: name,
    aliases: [],
    version,
    summary: `A Java ${kind.replace('_', ' ')}.`,
    notes: undefined,
    definitions,
    altersOffsets: kind === 'source' || kind === 'sink',
    readsOtherKeys: true,
  }
}

type JavaConfigValue = {
  readonly name: string
  readonly value: string | null
  readonly recommendedValues: readonly string[]
  readonly errors: readonly string[]
  readonly visible: boolean
}

function toConfigValues(values: unknown): readonly ConfigValue[] {
  return (values as readonly JavaConfigValue[]).map(({ name, value, errors, recommendedValues, visible }) => ({
    name,
    value,
    errors,
    recommended: recommendedValues,
    visible,
  }))
}

function logLine(logger: Logger, { path }: JavaPluginLocation, line: HostLogLine): void {
  const { level, logger: javaLogger, stream, context, message, trace } = line
  const about = { location: path, ...taskOfContext(context), ...(stream && { stream }) }
  logger[level]({ ...about, ...(javaLogger && { logger: javaLogger }), ...(trace && { trace }) }, message)
}
