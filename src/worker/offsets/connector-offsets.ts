import { isDeepStrictEqual } from 'node:util'
import type { Broker, PartitionOffset, TopicPartition } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import type { ConnectorOffset } from '../../clients/worker-client.ts'
import type { Clock } from '../../common/clock.ts'
import { messageOf } from '../../common/errors.ts'
import { printExactJson } from '../../common/exact-json.ts'
import { MASK } from '../../common/secrets/secret-keys.ts'
import { SecretMasker } from '../../common/secrets/secret-masker.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import { serversOf, serversOfBroker } from '../configuration/bootstrap-servers.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import type { ConnectorBrokers } from '../configuration/connector-brokers.ts'
import { type ConnectorPlugin, findConnector } from '../configuration/connector-plugin.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { OffsetAlteration, PluginHost, SourceOffsetChange } from '../plugin-host.ts'
import type { ConnectorState } from '../stores/config-state.ts'
import type { OffsetStore } from '../stores/offset-store.ts'
import type { TopicAccess } from '../topic-access/topic-access.ts'
import { sinkGroupOf } from '../topic-access/topic-access-policy.ts'
import { parseSinkOffsets } from './sink-offset-request.ts'

export type ConnectorOffsetsOptions = {
  readonly brokers: Pick<ConnectorBrokers, 'run'>
  readonly plugins: PluginHost
  readonly offsets: OffsetStore
  /** Decides which consumer groups a connector may use. */
  readonly accessOf: (connector: string) => Pick<TopicAccess, 'groupProblem'>
  /**
   * Fences the source tasks of a connector so that none can write offsets any more; undefined for at-least-once
   * delivery.
   */
  readonly fence: ((connector: string) => Promise<void>) | undefined
  readonly resolver: ConfigResolver
  /** Whether no worker of the group runs a task of this stopped connector any more. */
  readonly haveTasksEnded: (connector: string) => boolean
  readonly clock: Clock
}

/** How long a request waits for the end of the tasks, in ms, as requests wait for a rebalance (`request-forwarding.ts`). */
const WAIT_MS_MAX = 5_000
const CHECK_MS = 50

/** Reads and alters the offsets of connectors: of sources in the offsets topic, of sinks in their consumer group. */
export class ConnectorOffsets {
  readonly #parts: ConnectorOffsetsOptions

  constructor(parts: ConnectorOffsetsOptions) {
    this.#parts = parts
  }

  async list(connector: ConnectorState): Promise<readonly ConnectorOffset[]> {
    if (this.#kindOf(connector) === 'sink') {
      const committed = await this.#withBroker(connector, (broker) => this.#committedOf(broker, connector))
      return committed.map(toChange)
    }
    const stored = await this.#parts.offsets.read(connector.name, connector.config)
    const secrets = await this.#secretMaskerOf(connector)
    return stored.map(({ partition, offset }) => ({
      partition: secrets.maskData(partition),
      offset: secrets.maskData(offset),
    }))
  }

  /**
   * Masks the values of the connector's placeholders. Throws a `WorkerError` when they cannot be resolved, because the
   * offsets could not be masked then.
   */
  async #secretMaskerOf(connector: ConnectorState): Promise<SecretMasker> {
    const { placeholderValues: filledIn } = await this.#parts.resolver
      .resolve(connector.config)
      .catch((error: unknown) => {
        throw new WorkerError('offsets_refused', messageOf(error), { cause: error })
      })
    const secrets = new SecretMasker()
    secrets.add(filledIn.values())
    return secrets
  }

  /**
   * Alters offsets and returns the message of the response. Throws `not_stopped` unless the connector is stopped, and
   * `rebalancing` while its tasks have not ended.
   */
  async alter(connector: ConnectorState, offsets: readonly ConnectorOffset[]): Promise<string> {
    await this.#requireStopped(connector)
    const changes = offsets as readonly SourceOffsetChange[]
    const alteration =
      this.#kindOf(connector) === 'sink'
        ? await this.#withBroker(connector, (broker) => this.#alterSink(broker, connector, changes))
        : await this.#alterSource(connector, await this.#withStoredPartitions(connector, changes))
    return resultMessage(alteration, 'altered')
  }

  /** Deletes all offsets and returns the message of the response. Throws like `alter`. */
  async reset(connector: ConnectorState): Promise<string> {
    await this.#requireStopped(connector)
    if (this.#kindOf(connector) === 'sink') {
      return resultMessage(await this.#withBroker(connector, (broker) => this.#resetSink(broker, connector)), 'reset')
    }
    const known = await this.#parts.offsets.read(connector.name, connector.config)
    const changes = known.map(({ partition }) => ({ partition, offset: null }))
    return resultMessage(await this.#alterSource(connector, changes), 'reset')
  }

  /**
   * A task commits its offsets while it stops, and would overwrite altered ones. As in Kafka Connect, the rebalance that removes the
   * tasks must be over.
   */
  async #requireStopped(connector: ConnectorState): Promise<void> {
    requireStoppedState(connector)
    const { haveTasksEnded, clock } = this.#parts
    const deadlineMs = clock.monotonicMs() + WAIT_MS_MAX
    while (!haveTasksEnded(connector.name)) {
      if (clock.monotonicMs() >= deadlineMs) {
        throw new WorkerError(
          'rebalancing',
          `Cannot complete request because the tasks of connector ${connector.name} have not ended on all workers yet (a rebalance is in progress)`,
        )
      }
      await clock.sleep(CHECK_MS)
    }
  }

  #kindOf({ name, config }: ConnectorState): 'source' | 'sink' {
    const plugin = findConnector(this.#parts.plugins.catalog, config)
    if (plugin) return plugin.kind
    throw new WorkerError(
      'offsets_refused',
      `the class of connector ${name} is not installed on this worker, so its offsets cannot be read`,
    )
  }

  /** Replaces partitions that were read masked and are written back by the stored ones. */
  async #withStoredPartitions(
    connector: ConnectorState,
    offsets: readonly SourceOffsetChange[],
  ): Promise<readonly SourceOffsetChange[]> {
    if (!printExactJson(offsets).includes(MASK)) return offsets
    const secrets = await this.#secretMaskerOf(connector)
    const stored = await this.#parts.offsets.read(connector.name, connector.config)
    return offsets.map((entry) => {
      const meant = stored.find(({ partition }) => isDeepStrictEqual(secrets.maskData(partition), entry.partition))
      return meant ? { ...entry, partition: meant.partition } : entry
    })
  }

  async #alterSource(connector: ConnectorState, offsets: readonly SourceOffsetChange[]): Promise<OffsetAlteration> {
    const alteration = await this.#alterByPlugin(connector, offsets)
    if (offsets.length === 0) return alteration
    await this.#parts.fence?.(connector.name)
    await this.#parts.offsets.write(connector.name, connector.config, offsets)
    return alteration
  }

  /** Lets the connector check the offsets, and alter those that it keeps itself. */
  async #alterByPlugin(connector: ConnectorState, offsets: readonly SourceOffsetChange[]): Promise<OffsetAlteration> {
    const plugin = findConnector(this.#parts.plugins.catalog, connector.config)
    // The offsets of a sink are in its consumer group, so a sink without `alterOffsets` permits every change.
    const fallback = plugin?.kind === 'sink' ? 'altered' : 'unsupported'
    const alteration = plugin?.altersOffsets ? await this.#callPlugin(plugin, connector, offsets) : fallback
    if (alteration !== 'unsupported') return alteration
    throw new WorkerError(
      'offsets_refused',
      `Failed to modify offsets for connector ${connector.name} because it doesn't support external modification of offsets`,
    )
  }

  async #callPlugin(
    plugin: ConnectorPlugin,
    connector: ConnectorState,
    offsets: readonly SourceOffsetChange[],
  ): Promise<OffsetAlteration> {
    const { plugins, resolver } = this.#parts
    try {
      const { config } = await resolver.resolve(connector.config)
      return await plugins.call('alter-offsets', plugin, { config, offsets })
    } catch (error) {
      throw new WorkerError('offsets_refused', resolver.mask(messageOf(error)), { cause: error })
    }
  }

  /** The admin client of the connector reads and changes its consumer group. */
  #withBroker<Result>({ config }: ConnectorState, action: (broker: Broker) => Promise<Result>): Promise<Result> {
    return this.#parts.brokers.run('admin', config, action)
  }

  async #alterSink(
    broker: Broker,
    connector: ConnectorState,
    offsets: readonly SourceOffsetChange[],
  ): Promise<OffsetAlteration> {
    const { set, forget } = parseSinkOffsets(connector.name, offsets)
    const { groups } = broker
    await this.#requirePartitions(broker, connector, set)
    const alteration = await this.#alterByPlugin(connector, [...set.map(toChange), ...forget.map(toReset)])
    await this.#changeGroup(connector, 'alter', async (group) => {
      if (set.length > 0) await groups.setOffsets(group, set)
      if (forget.length > 0) await groups.deleteOffsets(group, forget)
    })
    return alteration
  }

  async #resetSink(broker: Broker, connector: ConnectorState): Promise<OffsetAlteration> {
    const { groups } = broker
    const committed = await this.#committedOf(broker, connector)
    const alteration = await this.#alterByPlugin(connector, committed.map(toReset))
    await this.#changeGroup(connector, 'reset', (group) => groups.delete(group))
    return alteration
  }

  /**
   * The offsets of a sink. Throws a `WorkerError` if there are none and its consumer connects to other servers: its group may be in
   * another Kafka cluster, where a reset would have no effect although it seems to succeed.
   */
  async #committedOf(broker: Broker, connector: ConnectorState): Promise<readonly PartitionOffset[]> {
    const committed = await broker.groups.offsets(this.#groupOf(connector))
    const servers = connector.config['consumer.override.bootstrap.servers']
    if (committed.length > 0 || servers === undefined) return committed
    const own = await serversOfBroker(broker)
    if (own === undefined || serversOf(servers).some((server) => own.includes(server))) return committed
    throw new WorkerError(
      'offsets_refused',
      `Connector ${connector.name} has no offsets in the Kafka cluster of its admin client, and its consumer connects to other servers ` +
        `(consumer.override.bootstrap.servers). If they belong to another cluster, set admin.override.bootstrap.servers to them, too`,
    )
  }

  /** Throws a `WorkerError` if the connector may not use the group that it configures. */
  #groupOf({ name, config }: ConnectorState): string {
    const named = config['consumer.override.group.id']
    const group = named === undefined ? sinkGroupOf(name) : trimAsJava(named)
    const problem = this.#parts.accessOf(name).groupProblem(group)
    if (problem !== undefined) throw new WorkerError('offsets_refused', problem)
    return group
  }

  /** Consumer groups accept offsets of topics that do not exist, so the error would otherwise go unnoticed. */
  async #requirePartitions(
    broker: Broker,
    { name }: ConnectorState,
    offsets: readonly PartitionOffset[],
  ): Promise<void> {
    for (const { topic, partition } of offsets) {
      const found = await broker.topics.describe(topic)
      if (found?.partitions.some((known) => known.partition === partition)) continue
      throw new WorkerError(
        'offsets_refused',
        `Failed to alter consumer group offsets for connector ${name}: there is no partition ${partition} of topic '${topic}'`,
      )
    }
  }

  async #changeGroup(
    connector: ConnectorState,
    verb: 'alter' | 'reset',
    change: (group: string) => Promise<void>,
  ): Promise<void> {
    const group = this.#groupOf(connector)
    try {
      await change(group)
    } catch (error) {
      if (error instanceof BrokerError && error.code === 'group_not_found') return
      const isBusy =
        error instanceof BrokerError && (error.code === 'group_not_empty' || error.code === 'unknown_member')
      const why = isBusy
        ? ` either because its tasks haven't stopped completely yet or the connector was resumed before the request to ${verb} its offsets could be successfully completed. If the connector is in a stopped state, this operation can be safely retried. If it doesn't eventually succeed, the Connect cluster may need to be restarted to get rid of the zombie sink tasks.`
        : `: ${messageOf(error)}`
      throw new WorkerError(
        'offsets_refused',
        `Failed to ${verb} consumer group offsets for connector ${connector.name}${why}`,
        {
          cause: error,
        },
      )
    }
  }
}

/** The offset of a sink in the format of the REST API. */
function toChange({ topic, partition, offset }: PartitionOffset) {
  return { partition: { kafka_partition: partition, kafka_topic: topic }, offset: { kafka_offset: offset } }
}

function toReset({ topic, partition }: TopicPartition) {
  return { partition: { kafka_partition: partition, kafka_topic: topic }, offset: null }
}

function resultMessage(alteration: OffsetAlteration, verb: 'altered' | 'reset'): string {
  if (alteration !== 'ignored') return `The offsets for this connector have been ${verb} successfully`
  return (
    `The Connect framework-managed offsets for this connector have been ${verb} successfully. However, if this ` +
    `connector manages offsets externally, they will need to be manually ${verb} in the system that the connector uses.`
  )
}

function requireStoppedState({ name, target, tasks }: ConnectorState): void {
  if (target === 'STOPPED' && tasks.length === 0) return
  throw new WorkerError(
    'not_stopped',
    'Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the ' +
      `specified connector by issuing a 'PUT' request to the '/connectors/${name}/stop' endpoint`,
  )
}
