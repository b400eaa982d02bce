import type { Broker, PartitionOffset } from '../broker/broker.ts'
import { type Clock, systemClock } from '../common/clock.ts'
import { type RunningProgram, startAll } from '../common/lifecycle.ts'
import { type Logger, secretMaskerOf } from '../common/logging/logger.ts'
import type { Metrics } from '../common/metrics-registry.ts'
import { packageVersion } from '../common/package-version.ts'
import { CompatibilityWorker } from '../compatibility-worker/compatibility-worker.ts'
import { SchemaOperations } from '../compatibility-worker/schema-operations.ts'
import { ChangeFeed } from '../console/change-feed.ts'
import type { KmsDriver } from '../encryption/kms.ts'
import { localKmsDriver, localKmsSecrets } from '../encryption/local-kms.ts'
import { parseListener, reachableHost } from '../http/listener-address.ts'
import { DekRegistry } from './dek/dek-registry.ts'
import { KeyState } from './dek/key-state.ts'
import { type KeysTopic, type KeysTopicOptions, openKeysTopic } from './dek/keys-topic.ts'
import type { MemberIdentity } from './leadership/group-protocol.ts'
import { LeaderElection } from './leadership/leader-election.ts'
import { openLeaderWriter } from './leadership/leader-writer.ts'
import { keyMetrics } from './metrics/key-metrics.ts'
import { registryMetrics } from './metrics/registry-metrics.ts'
import { missingRightText } from './model/write-error-messages.ts'
import { modeInScope } from './queries/effective-config.ts'
import { ParsedSchemas } from './queries/parsed-schemas.ts'
import { Registry } from './registry.ts'
import { serveRegistry } from './rest-server.ts'
import { type RegistrySettings, type RegistryValues, registryDefaults, topicSettings } from './settings.ts'
import { RegistryState } from './store/registry-state.ts'
import { openSchemasTopic } from './store/schemas-topic.ts'

export type RegistryDependencies = {
  readonly broker: Broker
  readonly logger: Logger
  readonly metrics: Metrics
  /** The KMS drivers of the DEK registry. Default: the local KMS, with secrets from the environment. */
  readonly kmsDrivers?: readonly KmsDriver[]
  /**
   * Called with the subject of every change of a version, config or mode, on any instance. `:.ctx:` is a context, null
   * the default context.
   */
  readonly onChange?: (subject: string | null) => void
  /**
   * Called once when the topic can no longer be read. From then on the registry is not ready and does not write; the
   * caller has to stop it.
   */
  readonly onFailed?: (error: Error) => void
  readonly clock?: Clock
}

/**
 * Starts a registry. Resolves when it listens and has read the whole topic. The caller remains responsible for closing
 * the broker.
 */
export function startRegistry(settings: RegistrySettings, dependencies: RegistryDependencies): Promise<RunningProgram> {
  const { broker, metrics, onChange = () => {}, onFailed = () => {}, clock = systemClock } = dependencies
  const logger = dependencies.logger.child({ program: 'registry' })
  secretMaskerOf(dependencies.logger).add([...settings.secrets, ...localKmsSecrets(process.env)])
  for (const warning of settings.warnings) logger.warn(warning)
  const { values } = settings
  const nowMs = () => clock.monotonicMs()
  return startAll(logger, async (life) => {
    const election = new LeaderElection({
      broker,
      logger,
      clock,
      groupId: values['schema.registry.group.id'],
      sticky: values['leader.election.sticky'],
      isEligibilityDeferred: values['leader.eligibility.deferred'],
      sessionTimeoutMs: values['brokergroup.session.timeout.ms'],
      heartbeatMs: values['brokergroup.heartbeat.interval.ms'],
      rebalanceTimeoutMs: values['brokergroup.rebalance.timeout.ms'],
    })
    const measurements = registryMetrics(metrics, () => election.writer() !== undefined, nowMs)
    const state = new RegistryState()
    const changes = new ChangeFeed()
    const topicConfigs = topicSettings(settings)
    const saveProgress = (positions: readonly PartitionOffset[]) => election.saveProgress(positions)
    const log = await openSchemasTopic(state, {
      broker,
      logger,
      clock,
      settings: values,
      topicConfigs,
      onRecord(applied, record) {
        measurements.onRecord(applied, record)
        if (record === undefined || !('subject' in record)) return
        onChange(record.subject)
        changes.publish({ kind: 'subject', name: record.subject })
      },
      onFailed,
      saveProgress,
    })
    life.onStop('topic', () => log.close())
    const keys = values['weir.dek.registry.enable']
      ? await openKeys({
          broker,
          logger,
          settings: values,
          topicConfigs,
          onUnreadable: () => measurements.onRecord('unreadable'),
          onFailed,
          saveProgress,
        })
      : undefined
    life.onStop('topic of keys', async () => keys?.log.close())
    if (keys) keyMetrics(metrics, keys.state)
    const compatibilityWorker = new CompatibilityWorker()
    life.onStop('compatibility worker', () => compatibilityWorker.close())
    const { onSchemaOperation } = measurements
    const schemas = new ParsedSchemas({
      operations: new SchemaOperations({ worker: compatibilityWorker, onOperation: onSchemaOperation, nowMs }),
      entriesMax: values['schema.cache.size'],
      expiryMs: values['schema.cache.expiry.ms'],
      nowMs,
    })
    const decisionContext = { view: state, schemas, ...registryDefaults(values) }
    const registry = new Registry({
      decisionContext,
      leadership: election,
      compatibilityWorker,
      refresh: async () => {
        await Promise.all([log.refresh(), keys?.log.refresh()])
      },
      storeFailure: () => log.failure,
    })
    const dekRegistry =
      keys &&
      new DekRegistry({
        view: keys.state,
        writes: registry.writes,
        kmsDrivers: dependencies.kmsDrivers ?? [localKmsDriver()],
        keysMax: values['dek.registry.max.keys'],
        isImporting: (subject) => modeInScope(state, subject, decisionContext.defaults) === 'IMPORT',
        storeFailure: () => keys.log.failure,
      })
    // The server starts before the election, because the identity of the instance contains its port. Reads are served
    // before a leader is elected.
    const server = await serveRegistry(registry, {
      settings: values,
      identity: { clusterId: await broker.clusterId(), version: packageVersion() },
      logger,
      metrics,
      measurements,
      changes,
      dekRegistry,
      isReady: () =>
        log.failure === undefined && (election.writer() !== undefined || election.leaderUrl() !== undefined),
      whyNotReady: () => missingRightText(log.failure ?? election.problem()),
    })
    life.onStop('http server', () => server.stop())
    life.onStop('console', () => changes.close())
    life.onStop('election', () => election.close())
    await election.join({
      identity: identityOf(server.urls, values),
      openWriter: async () => {
        const startMs = nowMs()
        const writer = await openLeaderWriter(log, keys?.log)
        measurements.onElected(nowMs() - startMs)
        return writer
      },
    })
    for (const url of server.urls) logger.info({ url }, 'listening')
    return { url: server.urls[0] ?? '', stop: () => life.stop() }
  })
}

/** Opens the topic of the DEK registry and reads it into a new state. */
async function openKeys(options: KeysTopicOptions): Promise<{ readonly state: KeyState; readonly log: KeysTopic }> {
  const state = new KeyState()
  return { state, log: await openKeysTopic(state, options) }
}

/** How other instances reach this one: at `host.name`, otherwise at an address that is not local to this machine. */
function identityOf(urls: readonly string[], values: RegistryValues): Omit<MemberIdentity, 'leader'> {
  const scheme = values['inter.instance.protocol']
  const at = Math.max(
    0,
    urls.findIndex((url) => url.startsWith(`${scheme}:`)),
  )
  const { protocol, port } = new URL(urls[at] ?? '')
  return {
    version: 1,
    host: values['host.name'] || reachableHost(parseListener(values.listeners[at] ?? '')),
    port: values['host.port'] ?? Number(port),
    master_eligibility: values['master.eligibility'],
    scheme: protocol.slice(0, -1),
  }
}
