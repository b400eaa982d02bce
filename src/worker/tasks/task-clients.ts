import { isDeepStrictEqual } from 'node:util'
import type { Consumer, ConsumerOptions, ProducerOptions } from '../../broker/broker.ts'
import { isTransient } from '../../broker/broker-error.ts'
import type { ClientKind } from '../../broker/client-settings.ts'
import { UserError } from '../../common/errors.ts'
import { retry } from '../../common/retry.ts'
import type { TopicReader, TopicReaderOptions } from '../../sdk/index.ts'
import { serversOf, serversOfBroker } from '../configuration/bootstrap-servers.ts'
import { type ClientSettings, clientSettings, ineffectiveKeys } from '../configuration/client-settings.ts'
import type { GuardedBroker, GuardedProducer } from '../topic-access/guarded-broker.ts'
import { sinkGroupOf } from '../topic-access/topic-access-policy.ts'
import type { RetryStatus } from './retry-status.ts'
import type { WorkerTaskContext } from './task-context.ts'
import type { TaskSpec } from './task-spec.ts'

/** As in Kafka Connect, the producer of a task waits for its brokers without a limit, unless `max.block.ms` is configured. */
const BLOCK_MS_MAX = 2 ** 31 - 1
/** A topic that may not exist at all ends a task sooner, with its name. */
const MISSING_TOPIC_MS = 60_000
const TOPICS_BACKOFF = { firstMs: 250, maxMs: 10_000 }

export type TaskClientsOptions = Pick<WorkerTaskContext, 'spec' | 'broker' | 'connect' | 'log' | 'clock' | 'signal'> & {
  /** Shows why a call is repeated. */
  readonly status: Pick<RetryStatus, 'setError'>
}

/**
 * The Kafka clients of one task, with the settings of its worker and connector. They use the worker's shared broker,
 * unless their connection settings differ from it.
 */
export class TaskClients {
  readonly #spec: TaskSpec
  readonly #broker: GuardedBroker
  readonly #connect: WorkerTaskContext['connect']
  readonly #options: Pick<TaskClientsOptions, 'clock' | 'signal' | 'status'>
  readonly #settings: ClientSettings
  readonly #brokers: { readonly connection: object; readonly broker: Promise<GuardedBroker | undefined> }[] = []

  constructor(options: TaskClientsOptions) {
    const { spec, broker, connect, log } = options
    this.#options = options
    this.#spec = spec
    this.#broker = broker
    this.#connect = connect
    this.#settings = clientSettings(spec.worker.clients, spec.config)
    const keys = ineffectiveKeys(spec.config, 'override.')
    if (Object.keys(keys).length > 0) log.warn({ keys }, 'these client settings have no effect in Weir')
  }

  /** Largest record that the producer accepts, in bytes. */
  get recordBytesMax(): number {
    return this.#settings.producer().recordBytesMax
  }

  /** Configured settings take precedence over `defaults`. */
  async producer(defaults: ProducerOptions = {}): Promise<GuardedProducer> {
    const broker = await this.#brokerOf('producer')
    const configured = this.#settings.producer()
    const waits = { maxBlockMs: BLOCK_MS_MAX, missingTopicMs: configured.maxBlockMs ?? MISSING_TOPIC_MS }
    return broker.producer({ ...waits, ...defaults, ...configured })
  }

  /**
   * The producer of source offsets, or undefined when the task's own producer uses the worker's connection and can
   * write them.
   */
  async offsetsProducer(): Promise<GuardedProducer | undefined> {
    return (await this.#brokerOf('producer')) === this.#broker ? undefined : this.#broker.producer()
  }

  /**
   * Throws a `UserError` when records and offsets would be in two clusters, because a transaction cannot span clusters.
   */
  transactionalProducer(defaults: ProducerOptions): Promise<GuardedProducer> {
    if (this.#settings.connection('producer')['bootstrap.servers'] !== undefined) {
      throw new UserError(
        'invalid_config',
        "exactly-once delivery writes to the worker's own cluster only: remove bootstrap.servers from the producer's settings",
      )
    }
    return this.producer(defaults)
  }

  async consumer(options: Pick<ConsumerOptions, 'topics' | 'rebalance' | 'signal'>): Promise<Consumer> {
    const { connector, task, worker } = this.#spec
    const broker = await this.#brokerOf('consumer')
    return broker.consumer({
      groupId: sinkGroupOf(connector),
      // With a static membership, a restarted task takes over from its predecessor without waiting for the end of that
      // session, on any worker of the group. The worker group's name keeps two groups with the same connector apart.
      instanceId: `${worker.workerGroup}-${connector}-${task}`,
      clientId: this.#settings.connection('consumer')['client.id'] || `connector-consumer-${connector}-${task}`,
      startAt: 'earliest',
      ...this.#settings.consumer(),
      ...options,
    })
  }

  /** Opens a topic for the connector's source. Throws a `UserError` when the servers of the options are another cluster's. */
  async topicReader({ topic, offset, bootstrapServers }: TopicReaderOptions): Promise<TopicReader> {
    const broker = await this.#brokerOf('consumer')
    if (bootstrapServers !== undefined) await requireServer(broker, bootstrapServers)
    const { isolation, pollBytesMax } = this.#settings.consumer()
    const limits = { ...(isolation && { isolation }), ...(pollBytesMax && { pollBytesMax }) }
    return broker.openTopic({ topic, offset, limits })
  }

  /**
   * Creates and describes topics. A call is repeated until the task ends while brokers cannot carry it out, because a controller that
   * is away for longer than `default.api.timeout.ms` must not fail a task for good.
   */
  async topics(): Promise<GuardedBroker['topics']> {
    const { topics } = await this.#brokerOf('admin')
    return {
      create: (topic) => this.#persist(() => topics.create(topic)),
      describe: (name) => this.#persist(() => topics.describe(name)),
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#brokers.map(async ({ broker }) => (await broker)?.close()))
  }

  async #persist<T>(call: () => Promise<T>): Promise<T> {
    const { clock, signal, status } = this.#options
    let hasFailed = false
    const onRetry = (error: unknown) => {
      hasFailed = true
      status.setError(error)
    }
    const retriable = (error: unknown) => !signal.aborted && isTransient(error)
    const done = await retry(call, {
      backoff: TOPICS_BACKOFF,
      withinMs: Number.POSITIVE_INFINITY,
      clock,
      signal,
      retriable,
      onRetry,
    })
    if (hasFailed) status.setError(undefined)
    return done
  }

  async #brokerOf(kind: ClientKind): Promise<GuardedBroker> {
    const connection = this.#settings.connection(kind)
    let opened = this.#brokers.find((known) => isDeepStrictEqual(known.connection, connection))
    if (!opened) {
      opened = { connection, broker: this.#connect(connection, this.#settings.overrides(kind)) }
      this.#brokers.push(opened)
    }
    return (await opened.broker) ?? this.#broker
  }
}

/** Throws a `UserError` unless the broker has at least one of these servers. */
async function requireServer(broker: GuardedBroker, bootstrapServers: string): Promise<void> {
  const own = (await serversOfBroker(broker)) ?? []
  if (serversOf(bootstrapServers).some((server) => own.includes(server))) return
  throw new UserError(
    'invalid_config',
    `the Kafka cluster ${bootstrapServers} is not that of the connector's consumers (${own.join(',') || 'the embedded broker'}): ` +
      'remove the key that names it, or set consumer.override.bootstrap.servers to the same servers',
  )
}
