import { EventEmitter } from 'node:events'
import { availableParallelism } from 'node:os'
import type { Broker } from '../broker/broker.ts'
import type { TaskId } from '../clients/worker.ts'
import { systemClock } from '../config/clock.ts'
import { watchContent } from '../config/file-watcher.ts'
import { type RunningProgram, startAll } from '../config/lifecycle.ts'
import { type Logger, secretMaskerOf, silentLogger } from '../config/logger.ts'
import type { Metrics } from '../config/metrics.ts'
import { packageVersion } from '../config/version.ts'
import { parseListener, reachableHost } from '../http/listener.ts'
import type { RawConfig } from '../sdk/index.ts'
import { ineffectiveKeys } from './configuration/client-settings.ts'
import { ConfigResolver, createProviders } from './configuration/config-resolver.ts'
import { findConnector } from './configuration/connector-plugin.ts'
import { LiteralSecrets } from './configuration/literal-secrets.ts'
import { watchPlaceholders } from './configuration/placeholder-watch.ts'
import { Herder } from './herder/herder.ts'
import { LeaderDuties } from './herder/leader-duties.ts'
import { fenceProducer, transactionalIdOf } from './herder/producer-fencing.ts'
import { configuredWork } from './herder/work-plan.ts'
import { WorkRunner } from './herder/work-runner.ts'
import { connectorAccess } from './host-access/access-settings.ts'
import { ALL_ACCESS } from './host-access/connector-access.ts'
import { hostAccess } from './host-access/host-access.ts'
import { pluginLimits } from './isolation/plugins/plugin-limits.ts'
import { ProcessPluginHost, type ProcessPluginHostOptions } from './isolation/plugins/process-plugin-host.ts'
import { ThreadPool } from './isolation/tasks/thread-pool.ts'
import type { ProtocolName } from './membership/connect-protocol.ts'
import { PeerClient } from './membership/peer-client.ts'
import { WorkerGroup } from './membership/worker-group.ts'
import { type OverridePolicy, parseOverridePolicy } from './model/override-policy.ts'
import { LogLevels } from './observability/log-levels.ts'
import { registerWorkerMetrics } from './observability/worker-metrics.ts'
import { ConnectorOffsets } from './offsets/connector-offsets.ts'
import type { PluginHost } from './plugin-host.ts'
import type { LoggerRoutes } from './routes/loggers.ts'
import { peerTls, startRestServer } from './routes/rest-server.ts'
import { mustRefuseUnsigned, type WorkerSettings, workerSettings } from './settings.ts'
import type { ConfigRecord } from './stores/config-codec.ts'
import type { ConfigState } from './stores/config-state.ts'
import { openStores } from './stores/stores.ts'
import type { TaskDefaults } from './tasks/task-spec.ts'
import { Worker } from './worker.ts'

export { resolveSettings } from './startup/resolve-settings.ts'

export type WorkerDependencies = {
  readonly broker: Broker
  readonly logger: Logger
  readonly metrics: Metrics
  /** Whether the first task finds a thread that is ready: one is made while the worker starts. Default: no. */
  readonly isWarm?: boolean
  /** How plugins are loaded. Default: in processes of their own. */
  readonly openPlugins?: (options: ProcessPluginHostOptions) => Promise<LoadedPluginHost>
  /** Files and directories of the worker that no setting names: the configuration file, the data directory. */
  readonly ownFiles?: readonly string[]
  /** Is told each connector whose configuration, wanted state or status changed, whoever changed it. */
  readonly onChange?: (connector: string) => void
  /**
   * Called when a storage topic cannot be followed any further. From then on the worker is not ready and its writes fail;
   * the caller has to stop it.
   */
  readonly onFailed?: (error: Error) => void
}

export type LoadedPluginHost = PluginHost & Pick<ProcessPluginHost, 'modules' | 'faults' | 'close'>

/**
 * Starts a connector worker on a log. Resolves when it answers, is a member of its group and has started its share of the
 * work. The broker stays the caller's.
 */
export function startWorker(settings: WorkerSettings, dependencies: WorkerDependencies): Promise<RunningProgram> {
  const {
    broker,
    metrics,
    openPlugins = ProcessPluginHost.open,
    onChange = () => {},
    onFailed = () => {},
  } = dependencies
  const root = dependencies.logger.child({ program: 'worker' })
  const levels = new LogLevels(root)
  const logger = levels.logger('weir.worker')
  const secrets = secretMaskerOf(dependencies.logger)
  secrets.add(settings.secrets)
  for (const warning of settings.warnings) logger.warn(warning)
  const ineffective = ineffectiveKeys(clientKeys(settings), '')
  if (ineffective.length > 0) logger.warn({ keys: ineffective }, 'these settings of clients have no effect here')
  const { values } = settings
  return startAll(logger, async (life) => {
    const access = connectorAccess(settings, dependencies.ownFiles)
    const plugins = await openPlugins({
      ...pluginLimits(values),
      access,
      logger: levels.logger('weir.worker.plugins'),
      clock: systemClock,
    })
    life.onStop('plugins', () => plugins.close())
    for (const fault of plugins.faults) logger.error(fault, 'a plugin could not be loaded')
    const resolver = new ConfigResolver(await createProviders(settings.rest, plugins), secrets)
    const literals = new LiteralSecrets(plugins.catalog, secrets)
    const place: { group?: WorkerGroup; address?: URL } = {}
    const threads = new ThreadPool({
      plugins: plugins.modules,
      access,
      logger: levels.logger('weir.worker.tasks'),
      address: () => broker.address(),
      threads: values['worker.threads'] ?? availableParallelism(),
      memoryMbMax: values['worker.thread.memory.mb'],
      blockedMsMax: values['worker.thread.blocked.max.ms'],
      startMsMax: values['worker.task.start.timeout.ms'],
      stopMsMax: values['task.shutdown.graceful.timeout.ms'],
      log: {
        linesPerSecond: values['worker.task.log.lines.per.second'],
        bytesPerSecond: values['worker.task.log.bytes.per.second'],
      },
      isWarm: dependencies.isWarm,
    })
    life.onStop('threads', () => threads.close())
    // Made before what listens to it: what comes before the herder is there, the herder finds in the state.
    const configRecords = new EventEmitter<{ read: [ConfigRecord] }>()
    configRecords.on('read', (record) => {
      if (record.kind === 'logger') levels.apply(record, systemClock.nowMs())
      if (record.kind === 'connector' || record.kind === 'target') onChange(record.connector)
    })
    const stores = await openStores({
      broker,
      logger,
      settings,
      onConfig: (record) => {
        literals.apply(record)
        configRecords.emit('read', record)
      },
      onStatus: onChange,
      onFailed,
      saveProgress: async (positions) => place.group?.saveProgress(positions),
    })
    life.onStop('stores', () => stores.close())
    literals.start(stores.configs.state)
    const isLeader = () => place.group?.isLeader === true
    const session = () => stores.configs.state.session
    const trusted = peerTls(settings)
    const certificates = trusted && watchContent({ ...trusted, logger })
    life.onStop('watch over certificates', () => certificates?.close())
    const peers = new PeerClient({
      session,
      signatureAlgorithm: values['inter.worker.signature.algorithm'],
      timeoutMs: REQUEST_TIMEOUT_MS,
      tls: certificates?.current,
    })
    const leader = new LeaderDuties({
      ...stores,
      broker,
      groupId: values['group.id'],
      logger,
      clock: systemClock,
      isLeader,
      isSource: (config) => findConnector(plugins.catalog, config)?.kind === 'source',
      sessionKey: sessionKey(settings),
    })
    const isExactlyOnce = values['exactly.once.source.support'] === 'enabled'
    const runner = new WorkRunner({
      ...stores,
      plugins,
      resolver,
      literals,
      logger,
      clock: systemClock,
      host: threads,
      defaults: taskDefaults(settings),
      workerId: () => place.address?.host ?? '',
      generation: () => place.group?.generation ?? 0,
      putTasks: async (connector, tasks) => {
        const leaderUrl = place.group?.leaderUrl
        if (isLeader() || leaderUrl === undefined) return leader.putTasks(connector, tasks)
        await peers.putTasks(leaderUrl, connector, tasks)
        // What is compared next must know of this.
        await stores.configs.readToEnd()
      },
      fence: isExactlyOnce
        ? async (id) => {
            const leaderUrl = place.group?.leaderUrl
            if (isLeader() || leaderUrl === undefined) await leader.fenceZombieSourceTasks(id.connector)
            else await peers.fenceZombieSourceTasks(leaderUrl, id.connector)
            await fenceProducer(broker, transactionalIdOf(values['group.id'], id))
          }
        : undefined,
      onInterrupted: () => herder.onInterrupted(),
      stopTimeoutMs: values['task.shutdown.graceful.timeout.ms'],
    })
    const herder: Herder = new Herder({
      ...stores,
      logger,
      runner,
      leader,
      group: () => place.group,
    })
    configRecords.on('read', (record) => {
      if (record.kind === 'restart') herder.onRestart(record)
      else if (record.kind !== 'logger') herder.wake('connector' in record ? record.connector : undefined)
    })
    const reloadMs = values['worker.config.reload.ms']
    if (reloadMs > 0) {
      const ending = new AbortController()
      const connectors = () => runner.connectorNames()
      const configOf = (name: string) => stores.configs.state.connector(name)?.config
      const restart = (connector: string) =>
        herder.onRestart({ kind: 'restart', connector, includeTasks: true, onlyFailed: false })
      const parts = { resolver, clock: systemClock, logger, intervalMs: reloadMs, connectors, configOf, restart }
      const watching = watchPlaceholders(parts, ending.signal)
      life.onStop('watch over placeholders', () => {
        ending.abort()
        return watching
      })
    }
    registerWorkerMetrics(metrics, {
      worker: () => runner.workerMetrics(),
      tasks: () => runner.taskMetrics(),
      group: () => place.group,
    })
    const worker = new Worker({
      ...stores,
      plugins,
      resolver,
      herder,
      offsets: new ConnectorOffsets({
        broker,
        plugins,
        resolver,
        offsets: stores.offsets,
        fence: isExactlyOnce ? (connector) => leader.fenceZombieSourceTasks(connector) : undefined,
      }),
      validation: {
        plugins,
        groupId: values['group.id'],
        exactlyOnceSources: isExactlyOnce,
        workerDefaults: converters(settings),
        overrides: overridePolicy(settings),
        access: hostAccess(access.host),
      },
      topicTracking: { enabled: values['topic.tracking.enable'], resettable: values['topic.tracking.allow.reset'] },
    })
    const loggers: LoggerRoutes = {
      levels,
      nowMs: systemClock.nowMs,
      setEverywhere: (name, level) => stores.configs.write([{ kind: 'logger', logger: name, level }]),
    }
    const info = { version: packageVersion(), commit: '', kafka_cluster_id: await broker.clusterId() }
    const server = await startRestServer({
      settings,
      logger: root,
      metrics,
      clock: systemClock,
      loggers,
      routes: {
        worker,
        info: () => info,
        isReady: () => place.group !== undefined && stores.failure() === undefined,
        isResponding: () => herder.isResponding(),
        masking: values['weir.config.masking'],
        timeouts: { requestMs: REQUEST_TIMEOUT_MS, healthMs: HEALTH_TIMEOUT_MS },
        requestHandler: {
          group: () => place.group,
          peers,
          clock: systemClock,
          exists: (owned) => isConfigured(stores.configs.state, owned),
          readConfigs: () => stores.configs.readToEnd(),
        },
        internal: {
          leader,
          session,
          isSigned: () => place.group?.isSigned === true,
          refusesUnsigned: mustRefuseUnsigned(values),
          algorithms: values['inter.worker.verification.algorithms'],
        },
      },
    })
    life.onStop('http server', () => server.stop())
    const address = advertised(server.urls[0] ?? '', settings)
    place.address = address
    // In reverse: tasks let go while this worker is still a member, so that nobody else is given them before.
    life.onStop('group', () => place.group?.leave())
    const tasksStopMs = values['task.shutdown.graceful.timeout.ms'] + TASKS_STOP_MS
    life.onStop('tasks', () => herder.stop(), tasksStopMs)
    place.group = await WorkerGroup.join({
      broker,
      logger,
      clock: systemClock,
      groupId: values['group.id'],
      clientId: values['client.id'] || `connect-${address.host}`,
      sessionTimeoutMs: values['session.timeout.ms'],
      rebalanceTimeoutMs: values['rebalance.timeout.ms'],
      heartbeatMs: values['heartbeat.interval.ms'],
      delayMsMax: values['scheduled.rebalance.max.delay.ms'],
      protocols: PROTOCOLS[values['connect.protocol']],
      url: address.href,
      configOffset: () => stores.configs.offset,
      readConfigs: () => stores.configs.readToEnd(),
      configuredWork: () => configuredWork(stores.configs.state),
      onAssigned: () => herder.onAssigned(),
      onLost: () => herder.onLost(),
    })
    await herder.onAssigned()
    const ending = new AbortController()
    const keeping = leader.runSessionKeyRotation(ending.signal)
    life.onStop('session key', () => {
      ending.abort()
      return keeping
    })
    for (const url of server.urls) logger.info({ url }, 'listening')
    return { url: server.urls[0] ?? '', stop: () => life.stop() }
  })
}

export type LoadedPlugins = Pick<ProcessPluginHost, 'catalog' | 'faults'>

/** What ships and what `pluginPath` leads to, as a worker with no other settings loads it. */
export async function loadPlugins(pluginPath: readonly string[]): Promise<LoadedPlugins> {
  const limits = pluginLimits(workerSettings([]).values)
  const options = { ...limits, pluginPath, access: ALL_ACCESS, logger: silentLogger(), clock: systemClock }
  const host = await ProcessPluginHost.open(options)
  host.close()
  return host
}

/** As long as the original's. */
const REQUEST_TIMEOUT_MS = 90_000
const HEALTH_TIMEOUT_MS = 10_000
/** For the statuses of tasks that have stopped. */
const TASKS_STOP_MS = 5_000
const SESSION_KEY_BYTES = 32

function sessionKey({ values }: WorkerSettings) {
  const bits = values['inter.worker.key.size']
  return {
    ttlMs: values['inter.worker.key.ttl.ms'],
    algorithm: values['inter.worker.key.generation.algorithm'],
    bytes: bits === undefined ? SESSION_KEY_BYTES : Math.ceil(bits / 8),
  }
}

function isConfigured(configs: ConfigState, owned: string | TaskId): boolean {
  if (typeof owned === 'string') return configs.connector(owned) !== undefined
  return configs.connector(owned.connector)?.tasks[owned.task] !== undefined
}

/** Best first. */
const PROTOCOLS: Readonly<Record<'compatible' | 'sessioned', readonly ProtocolName[]>> = {
  compatible: ['compatible'],
  sessioned: ['sessioned', 'compatible'],
}

function taskDefaults(settings: WorkerSettings): TaskDefaults {
  const { values } = settings
  return {
    workerGroup: values['group.id'],
    converters: converters(settings),
    clients: clientKeys(settings),
    offsetsTopic: values['offset.storage.topic'],
    commitIntervalMs: values['offset.flush.interval.ms'],
    commitTimeoutMs: values['offset.flush.timeout.ms'],
    createTopics: values['topic.creation.enable'],
    trackTopics: values['topic.tracking.enable'],
  }
}

/** What the worker says about the Kafka clients of its tasks. */
function clientKeys({ rest }: WorkerSettings): RawConfig {
  return Object.fromEntries(Object.entries(rest).filter(([key]) => /^(producer|consumer|admin)\./.test(key)))
}

function overridePolicy({ values }: WorkerSettings): OverridePolicy {
  const name = values['connector.client.config.override.policy']
  const policy = parseOverridePolicy(name, values['connector.client.config.override.allowlist'])
  if (!policy) throw new Error(`the settings let '${name}' pass`)
  return policy
}

/** The worker's own converters and their settings, under the keys that connectors use. */
function converters({ values, rest }: WorkerSettings): RawConfig {
  const own = Object.entries(rest).filter(([key]) => /^(key|value|header)\.converter\./.test(key))
  return {
    'key.converter': values['key.converter'],
    'value.converter': values['value.converter'],
    'header.converter': values['header.converter'],
    ...Object.fromEntries(own),
  }
}

/** Where other workers reach this one, with a slash at the end: as it was told, else by an address that others can use. */
function advertised(listening: string, { values }: WorkerSettings): URL {
  const url = new URL(listening)
  url.hostname = values['rest.advertised.host.name'] ?? reachableHost(parseListener(values.listeners[0] ?? listening))
  if (values['rest.advertised.port'] !== undefined) url.port = String(values['rest.advertised.port'])
  if (values['rest.advertised.listener'] !== undefined) url.protocol = values['rest.advertised.listener']
  return url
}
