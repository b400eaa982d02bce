import { type Clock, systemClock } from '../common/clock.ts'
import type { Logger } from '../common/logging/logger.ts'
import type { Broker } from './broker.ts'
import type { BrokerAddress } from './broker-address.ts'
import type { BrokerBackend } from './broker-backend.ts'
import { type ClientDefaults, RETRY_BACKOFF } from './client-settings.ts'
import { createConsumer } from './consumer/consumer.ts'
import { openGroupMembership } from './consumer/group-membership.ts'
import { LogReader } from './consumer/log-reader.ts'
import { createGroupAdmin } from './group-admin.ts'
import { MetadataCache } from './metadata-cache.ts'
import { createProducer } from './producer/producer.ts'
import { createTopicAdmin } from './topic-admin.ts'

export type BrokerClientOptions = {
  readonly logger: Logger
  readonly clock?: Clock
  /** Creates the address under which another thread reaches the same backend. */
  readonly address: () => Promise<BrokerAddress>
  /** Defaults of its clients. */
  readonly defaults?: ClientDefaults
}

type Closable = { close(): Promise<void> }

/** Implements `Broker` on top of a backend. Closing the broker closes the backend. */
export function createBrokerClient(backend: BrokerBackend, options: BrokerClientOptions): Broker {
  const { logger, clock = systemClock, defaults = { retryBackoff: RETRY_BACKOFF } } = options
  const topology = new MetadataCache(backend, clock)
  const open = new Set<Closable>()
  let closing: Promise<void> | undefined

  /** Tracks a resource until its owner or the broker closes it. */
  const owned = async <T extends Closable>(create: (onClose: () => void) => Promise<T> | T): Promise<T> => {
    const client: T = await create(() => open.delete(client))
    open.add(client)
    return client
  }

  const reader = (readerOptions = {}, onMissingTopic?: () => void): LogReader => {
    const reader: LogReader = new LogReader(
      {
        backend: backend,
        topology,
        clock,
        defaults,
        logger,
        onClose: () => open.delete(reader),
        ...(onMissingTopic && { onMissingTopic }),
      },
      readerOptions,
    )
    open.add(reader)
    return reader
  }

  const broker: Broker = {
    address: options.address,
    topics: createTopicAdmin(backend),
    groups: createGroupAdmin(backend),
    clusterId: () => backend.clusterId(),
    producer: (producerOptions = {}) =>
      owned((onClose) => createProducer({ backend: backend, topology, clock, onClose, defaults }, producerOptions)),
    newProducerIdentity: (transactionalId) =>
      backend.initProducer(transactionalId === undefined ? {} : { transactionalId }),
    hasTransactionalId: (transactionalId) => backend.hasTransactionalId({ transactionalId }),
    checkRights: (rights) => backend.checkRights({ rights }),
    reader: (readerOptions) => reader(readerOptions),
    consumer: (consumerOptions) =>
      owned((onClose) =>
        createConsumer(
          {
            backend: backend,
            clock,
            logger,
            defaults,
            join: broker.joinGroup,
            openReader: (onMissingTopic) => reader({ ...consumerOptions, waitsForMissingTopics: true }, onMissingTopic),
            onClose,
          },
          consumerOptions,
        ),
      ),
    joinGroup: (memberOptions) =>
      owned((onClose) => openGroupMembership({ backend: backend, clock, logger, onClose, defaults }, memberOptions)),
    close: () => {
      closing ??= closeAll(open, backend)
      return closing
    },
  }
  return broker
}

/**
 * Closes resources in reverse order; consumers close their own readers and memberships. The backend is closed last, in
 * any case.
 */
async function closeAll(open: ReadonlySet<Closable>, backend: BrokerBackend): Promise<void> {
  try {
    for (const client of [...open].reverse()) await client.close()
  } finally {
    await backend.close()
  }
}
