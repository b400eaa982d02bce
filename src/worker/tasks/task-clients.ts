import { isDeepStrictEqual } from 'node:util'
import type { Broker, Consumer, ConsumerOptions, Producer, ProducerOptions, TopicAdmin } from '../../broker/broker.ts'
import { UserError } from '../../common/errors.ts'
import type { TopicReader, TopicReaderOptions } from '../../sdk/index.ts'
import { serversOf, serversOfBroker } from '../configuration/bootstrap-servers.ts'
import {
  type ClientKind,
  type ClientSettings,
  clientSettings,
  ineffectiveKeys,
} from '../configuration/client-settings.ts'
import { SourceTopicReader } from './source-topic-reader.ts'
import type { WorkerTaskContext } from './task-context.ts'
import type { TaskSpec } from './task-spec.ts'

export type TaskClientsOptions = Pick<WorkerTaskContext, 'spec' | 'broker' | 'connect' | 'log'>

/**
 * The Kafka clients of one task, with the settings of its worker and connector. They use the worker's shared broker,
 * unless their connection settings differ from it.
 */
export class TaskClients {
  readonly #spec: TaskSpec
  readonly #broker: Broker
  readonly #connect: WorkerTaskContext['connect']
  readonly #settings: ClientSettings
  readonly #brokers: { readonly connection: object; readonly broker: Promise<Broker | undefined> }[] = []

  constructor({ spec, broker, connect, log }: TaskClientsOptions) {
    this.#spec = spec
    this.#broker = broker
    this.#connect = connect
    this.#settings = clientSettings(spec.worker.clients, spec.config)
    const keys = ineffectiveKeys(spec.config, 'override.')
    if (keys.length > 0) log.warn({ keys }, 'these client settings have no effect in Weir')
  }

  /** Largest record that the producer accepts, in bytes. */
  get recordBytesMax(): number {
    return this.#settings.producer().recordBytesMax
  }

  /** Configured settings take precedence over `defaults`. */
  async producer(defaults: ProducerOptions = {}): Promise<Producer> {
    const broker = await this.#brokerOf('producer')
    return broker.producer({ ...defaults, ...this.#settings.producer() })
  }

  /**
   * The producer of source offsets, or undefined when the task's own producer uses the worker's connection and can
   * write them.
   */
  async offsetsProducer(): Promise<Producer | undefined> {
    return (await this.#brokerOf('producer')) === this.#broker ? undefined : this.#broker.producer()
  }

  /**
   * Throws a `UserError` when records and offsets would be in two clusters, because a transaction cannot span clusters.
   */
  transactionalProducer(defaults: ProducerOptions): Promise<Producer> {
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
      groupId: `connect-${connector}`,
      // With a static membership, a restarted task takes over from its predecessor without waiting for the end of that
      // session, on any worker of the group. The worker group's name keeps two groups with the same connector apart.
      instanceId: `${worker.workerGroup}-${connector}-${task}`,
      clientId: `connector-consumer-${connector}-${task}`,
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
    return SourceTopicReader.open({ broker, topic, offset, limits })
  }

  async topics(): Promise<Pick<TopicAdmin, 'create' | 'describe'>> {
    return (await this.#brokerOf('admin')).topics
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#brokers.map(async ({ broker }) => (await broker)?.close()))
  }

  async #brokerOf(kind: ClientKind): Promise<Broker> {
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
async function requireServer(broker: Broker, bootstrapServers: string): Promise<void> {
  const own = (await serversOfBroker(broker)) ?? []
  if (serversOf(bootstrapServers).some((server) => own.includes(server))) return
  throw new UserError(
    'invalid_config',
    `the Kafka cluster ${bootstrapServers} is not that of the connector's consumers (${own.join(',') || 'the embedded broker'}): ` +
      'remove the key that names it, or set consumer.override.bootstrap.servers to the same servers',
  )
}
