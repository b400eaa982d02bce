import type { Broker } from '../broker/broker.ts'
import { ineffectiveConnectionSettings } from '../broker/client-settings.ts'
import type { TaskId } from '../clients/worker-client.ts'
import { systemClock } from '../common/clock.ts'
import { watchContent } from '../common/file-watcher.ts'
import { type Lifecycle, type RunningProgram, startAll } from '../common/lifecycle.ts'
import { type Logger, secretMaskerOf, silentLogger } from '../common/logging/logger.ts'
import type { Metrics } from '../common/metrics-registry.ts'
import { packageVersion } from '../common/package-version.ts'
import type { Setting } from '../config/settings.ts'
import { ChangeFeed } from '../console/change-feed.ts'
import type { PermissionPolicy } from '../http/permissions.ts'
import { openPermissions } from '../http/permissions-file.ts'
import { ineffectiveKeys } from './configuration/client-settings.ts'
import { ConfigResolver, createProviders } from './configuration/config-resolver.ts'
import { ConnectorBrokers } from './configuration/connector-brokers.ts'
import { LiteralSecrets } from './configuration/literal-secrets.ts'
import { watchPlaceholders } from './configuration/placeholder-watch.ts'
import type { LeaderDuties } from './herder/leader-duties.ts'
import { configuredWork } from './herder/work-plan.ts'
import type { WorkReconciler } from './herder/work-reconciler.ts'
import type { WorkRunner } from './herder/work-runner.ts'
import { ALL_ACCESS } from './host-access/connector-access.ts'
import { hostAccess } from './host-access/host-access.ts'
import { pluginLimits } from './isolation/plugins/plugin-limits.ts'
import { ProcessPluginHost } from './isolation/plugins/process-plugin-host.ts'
import { PeerClient } from './membership/peer-client.ts'
import { registerJavaHostMetrics } from './observability/java-host-metrics.ts'
import { LogLevels } from './observability/log-levels.ts'
import { registerPluginMetrics } from './observability/plugin-metrics.ts'
import { registerWorkerMetrics } from './observability/worker-metrics.ts'
import { peerTls, startRestServer } from './rest-server.ts'
import type { ConnectorActivityRoutes } from './routes/connector-activity.ts'
import { mustRefuseUnsigned, pluginSettings, type WorkerSettings, workerSettings } from './settings.ts'
import { startConnectorActivity } from './startup/connector-activity.ts'
import { createHerder } from './startup/create-herder.ts'
import { createWorkReconciler } from './startup/create-work-reconciler.ts'
import { advertisedUrl, clientSettingsOf, GROUP_PROTOCOLS } from './startup/derived-settings.ts'
import { GroupReference } from './startup/group-reference.ts'
import { type IsolationOptions, openIsolation, type WorkerIsolation } from './startup/open-isolation.ts'
import { openRecordAccess } from './startup/open-record-access.ts'
import { WorkerEvents } from './startup/worker-events.ts'
import type { ConfigState } from './stores/config-state.ts'
import { openStores, type Stores } from './stores/open-stores.ts'
import type { TopicAccess } from './topic-access/topic-access.ts'
import { NO_PROGRAM_TOPICS, type ProgramTopics, TopicPolicies } from './topic-access/topic-policies.ts'

export { secretKeysOf } from './configuration/connector-secret-keys.ts'
export { resolveSettings } from './startup/resolve-settings.ts'

export type WorkerDependencies = Pick<IsolationOptions, 'openPlugins' | 'openTaskProcess' | 'ownFiles'> & {
  readonly broker: Broker
  readonly logger: Logger
  readonly metrics: Metrics
  /** Whether a task process is started together with the worker, so that the first task starts faster. Default: false. */
  readonly isWarm?: boolean
  /** Topics and groups of the other programs of this process. Connectors may not use them. */
  readonly ownTopics?: ProgramTopics
  /** Called with the name of a connector whose configuration, target state or status changed, on any worker. */
  readonly onChange?: (connector: string) => void
  /**
   * Called when the worker can no longer follow a storage topic. From then on it is not ready and its writes fail, and the
   * caller has to stop it.
   */
  readonly onFailed?: (error: Error) => void
}

/** The same as in Kafka Connect. */
const REQUEST_TIMEOUT_MS = 90_000
const HEALTH_TIMEOUT_MS = 10_000
/** Time to write the statuses of tasks that have stopped. */
const STATUS_WRITE_MS_MAX = 5_000

/** Passed to each step of the start. */
type Startup = {
  readonly settings: WorkerSettings
  readonly broker: Broker
  readonly brokers: ConnectorBrokers
  readonly metrics: Metrics
  readonly root: Logger
  readonly logger: Logger
  readonly levels: LogLevels
  readonly life: Lifecycle
  readonly group: GroupReference
  readonly stores: Stores
  readonly isolation: WorkerIsolation
  readonly resolver: ConfigResolver
  readonly topics: TopicPolicies
  readonly permissions: () => PermissionPolicy
}

/**
 * Starts a connector worker on a broker. Resolves when its REST API is available, it is a member of its group and it has
 * started the work that was assigned to it. The caller closes the broker.
 */
export function startWorker(settings: WorkerSettings, dependencies: WorkerDependencies): Promise<RunningProgram> {
  const { broker, metrics, onChange = () => {}, onFailed = () => {} } = dependencies
  const root = dependencies.logger.child({ program: 'worker' })
  const levels = new LogLevels(root)
  const logger = levels.logger('weir.worker')
  const secrets = secretMaskerOf(dependencies.logger)
  secrets.add(settings.secrets)
  logWarnings(settings, logger)
  return startAll(logger, async (life) => {
    const { openPlugins, openTaskProcess, ownFiles, ownTopics = NO_PROGRAM_TOPICS, isWarm = false } = dependencies
    const permissions = openPermissions(settings.values, root, ({ connectors }) => topics.setRules(connectors))
    life.onStop('permissions', () => permissions.close())
    const topics = new TopicPolicies(settings, ownTopics, permissions.current().connectors)
    const isolated = { settings, broker, topics, levels, life, openPlugins, openTaskProcess, ownFiles }
    const isolation = await openIsolation(isolated)
    const { plugins, tasks } = isolation
    for (const { isWarning, ...fault } of plugins.faults) {
      if (isWarning) logger.warn(fault, 'a class of a plugin location is not used')
      else logger.error(fault, 'a plugin could not be loaded')
    }
    const resolver = new ConfigResolver(await createProviders(settings.rest, plugins), secrets)
    const literals = new LiteralSecrets(plugins.catalog, secrets)
    const group = new GroupReference()
    const events = new WorkerEvents()
    const changes = new ChangeFeed()
    const onConnectorChange = (connector: string) => {
      onChange(connector)
      changes.publish({ kind: 'connector', name: connector })
    }
    events.on('status', ({ connector }) => onConnectorChange(connector))
    // Registered first, so that the secrets of a record are masked in what later listeners log.
    events.on('configRecord', (record) => literals.apply(record))
    events.on('configRecord', (record) => {
      if (record.kind === 'connector') topics.setConnector(record.connector, record.config ?? undefined)
      if (record.kind === 'logger') levels.apply(record, systemClock.nowMs())
      if (record.kind === 'connector' || record.kind === 'target') onConnectorChange(record.connector)
    })
    const stores = await openStores({
      broker,
      logger,
      settings,
      topics,
      onConfig: (record) => void events.emit('configRecord', record),
      onStatus: (change) => void events.emit('status', change),
      onFailed,
      saveProgress: async (positions) => group.current()?.saveProgress(positions),
    })
    life.onStop('stores', () => stores.close())
    plugins.java?.setOffsetReader((connector, config) => stores.offsets.read(connector, config))
    literals.start(stores.configs.state)
    for (const { name, config } of stores.configs.state.connectors()) topics.setConnector(name, config)
    const brokers = new ConnectorBrokers({
      broker,
      clients: clientSettingsOf(settings),
      resolver,
      access: hostAccess(isolation.access.host),
      logger,
    })
    const startup: Startup = {
      settings,
      broker,
      brokers,
      metrics,
      root,
      logger,
      levels,
      life,
      group,
      stores,
      isolation,
      resolver,
      topics,
      permissions: permissions.current,
    }
    const peers = createPeerClient(startup)
    const { reconciler, runner, leader } = createWorkReconciler({
      settings,
      broker,
      brokers,
      logger,
      events,
      stores,
      plugins,
      resolver,
      literals,
      taskHost: tasks,
      peers,
      group,
    })
    watchPlaceholderValues(startup, reconciler, runner)
    registerWorkerMetrics(metrics, {
      worker: () => runner.workerMetrics(),
      tasks: () => runner.taskMetrics(),
      group: group.current,
    })
    registerPluginMetrics(metrics, async () => (await plugins.java?.metrics()) ?? [])
    registerJavaHostMetrics(metrics, () => plugins.java?.exits ?? 0)
    const activity = settings.values['ui.enabled']
      ? startConnectorActivity({
          logger: root,
          life,
          events,
          configs: stores.configs.state,
          runner,
          group,
          peers,
          changes,
        })
      : undefined
    const urls = await startRest(startup, { reconciler, leader, peers, changes, activity })
    await joinGroup(startup, reconciler, advertisedUrl(urls[0] ?? '', settings))
    rotateSessionKeys(startup, leader)
    // The process starts only now, because its start would compete with that of the worker for CPU time.
    if (isWarm) isolation.warmUp()
    for (const url of urls) logger.info({ url }, 'listening')
    return { url: urls[0] ?? '', stop: () => life.stop() }
  })
}

function logWarnings(settings: WorkerSettings, logger: Logger): void {
  for (const warning of settings.warnings) logger.warn(warning)
  const ofConnections = ineffectiveConnectionSettings(Object.keys(settings.rest))
  const keys = { ...ofConnections, ...ineffectiveKeys(clientSettingsOf(settings), '') }
  if (Object.keys(keys).length > 0) logger.warn({ keys }, 'these Kafka client settings have no effect in Weir')
}

function createPeerClient({ settings, logger, life, stores }: Startup): PeerClient {
  const tls = peerTls(settings)
  const certificates = tls && watchContent({ ...tls, logger })
  life.onStop('certificate watcher', () => certificates?.close())
  return new PeerClient({
    session: () => stores.configs.state.session,
    signatureAlgorithm: settings.values['inter.worker.signature.algorithm'],
    timeoutMs: REQUEST_TIMEOUT_MS,
    tls: certificates?.current,
  })
}

/** Restarts connectors whose placeholders have new values, if `worker.config.reload.ms` is set. */
function watchPlaceholderValues(startup: Startup, reconciler: WorkReconciler, runner: WorkRunner): void {
  const { settings, logger, life, stores, resolver } = startup
  const intervalMs = settings.values['worker.config.reload.ms']
  if (intervalMs === 0) return
  const stopping = new AbortController()
  const watching = watchPlaceholders(
    {
      resolver,
      clock: systemClock,
      logger,
      intervalMs,
      connectors: () => runner.connectorNames(),
      configOf: (name) => stores.configs.state.connector(name)?.config,
      restart: (connector) =>
        reconciler.onRestart({ kind: 'restart', connector, includeTasks: true, onlyFailed: false }),
    },
    stopping.signal,
  )
  life.onStop('placeholder watcher', () => {
    stopping.abort()
    return watching
  })
}

type RestServices = {
  readonly reconciler: WorkReconciler
  readonly leader: LeaderDuties
  readonly peers: PeerClient
  readonly changes: ChangeFeed
  readonly activity: ConnectorActivityRoutes | undefined
}

/** Starts the REST server and returns the URLs on which it listens. */
async function startRest(
  startup: Startup,
  { reconciler, leader, peers, changes, activity }: RestServices,
): Promise<readonly string[]> {
  const { settings, broker, metrics, root, levels, life, group, stores } = startup
  const { values } = settings
  const { configs } = stores
  const info = { version: packageVersion(), commit: '', kafka_cluster_id: await broker.clusterId() }
  const server = await startRestServer({
    settings,
    logger: root,
    metrics,
    clock: systemClock,
    changes,
    activity,
    permissions: startup.permissions,
    records: openRecordAccess(startup),
    pluginFaults: startup.isolation.plugins.faults,
    loggers: {
      levels,
      nowMs: systemClock.nowMs,
      setEverywhere: (name, level) => configs.write([{ kind: 'logger', logger: name, level }]),
    },
    routes: {
      herder: createHerder({
        settings,
        brokers: startup.brokers,
        stores,
        isolation: startup.isolation,
        resolver: startup.resolver,
        topics: startup.topics,
        reconciler,
        leader,
        haveTasksEnded: group.haveTasksEnded,
      }),
      info: () => info,
      isReady: () => group.current() !== undefined && stores.failure() === undefined,
      isResponding: () => reconciler.isResponding(),
      masking: values['weir.config.masking'],
      timeouts: { requestMs: REQUEST_TIMEOUT_MS, healthMs: HEALTH_TIMEOUT_MS },
      requestHandler: {
        group: group.current,
        peers,
        clock: systemClock,
        exists: (owned) => isConfigured(configs.state, owned),
        readConfigs: () => configs.readToEnd(),
      },
      internal: {
        leader,
        sessionKey: () => configs.state.session,
        requiresSignature: () => group.current()?.isSigned === true,
        rejectsUnsigned: mustRefuseUnsigned(values),
        algorithms: values['inter.worker.verification.algorithms'],
      },
    },
  })
  life.onStop('http server', () => server.stop())
  life.onStop('console', () => changes.close())
  return server.urls
}

/** Joins the group and starts the work that the first rebalance assigns. */
async function joinGroup(startup: Startup, reconciler: WorkReconciler, url: URL): Promise<void> {
  const { settings, broker, logger, life, group, stores } = startup
  const { values } = settings
  const { configs } = stores
  // Stopped in reverse order: tasks stop while this worker is still a member, so that no other worker starts them too early.
  life.onStop('group', () => group.current()?.leave())
  life.onStop('tasks', () => reconciler.stop(), values['task.shutdown.graceful.timeout.ms'] + STATUS_WRITE_MS_MAX)
  await group.join({
    broker,
    logger,
    clock: systemClock,
    groupId: values['group.id'],
    clientId: values['client.id'] || `connect-${url.host}`,
    sessionTimeoutMs: values['session.timeout.ms'],
    rebalanceTimeoutMs: values['rebalance.timeout.ms'],
    heartbeatMs: values['heartbeat.interval.ms'],
    delayMsMax: values['scheduled.rebalance.max.delay.ms'],
    protocols: GROUP_PROTOCOLS[values['connect.protocol']],
    url: url.href,
    configOffset: () => configs.offset,
    readConfigs: () => configs.readToEnd(values['worker.sync.timeout.ms']),
    configuredWork: () => configuredWork(configs.state),
    onAssigned: () => reconciler.onAssigned(),
    onLost: () => reconciler.onLost(),
  })
  await reconciler.start()
}

function rotateSessionKeys({ life }: Startup, leader: LeaderDuties): void {
  const stopping = new AbortController()
  const rotating = leader.runSessionKeyRotation(stopping.signal)
  life.onStop('session key', () => {
    stopping.abort()
    return rotating
  })
}

/** The access to topics of a program that writes records for any connector of a worker with these settings. */
export function recordTopicAccess(written: readonly Setting[]): TopicAccess {
  // Only these: others may contain placeholders, and are not needed.
  const named = written.filter(({ key }) =>
    /^(?:(?:config|offset|status)\.storage\.topic|connector\.topics\.denied)$/.test(key),
  )
  return new TopicPolicies(workerSettings(named), NO_PROGRAM_TOPICS, {}).accessOf('')
}

export type LoadedPlugins = Pick<ProcessPluginHost, 'catalog' | 'faults'>

/** Loads the shipped plugins and those of `pluginPath`, as a worker with these settings does. */
export async function loadPlugins(
  pluginPath: readonly string[],
  written: readonly Setting[] = [],
): Promise<LoadedPlugins> {
  // Only these: other settings may contain placeholders, and are not needed.
  const known = written.filter(({ key }) => key in pluginSettings.shape)
  const limits = pluginLimits(workerSettings(known).values)
  const options = { ...limits, pluginPath, access: ALL_ACCESS, logger: silentLogger(), clock: systemClock }
  const host = await ProcessPluginHost.open(options)
  await host.close()
  return host
}

function isConfigured(configs: ConfigState, owned: string | TaskId): boolean {
  if (typeof owned === 'string') return configs.connector(owned) !== undefined
  return configs.connector(owned.connector)?.tasks[owned.task] !== undefined
}
