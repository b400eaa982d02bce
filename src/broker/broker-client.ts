import { type Clock, systemClock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { BrokerBackend } from './backend.ts'
import type { Broker } from './broker.ts'
import type { BrokerAddress } from './broker-address.ts'
import { createConsumer } from './consumer.ts'
import { createGroupAdmin } from './group-admin.ts'
import { openGroupMembership } from './group-membership.ts'
import { LogReader } from './log-reader.ts'
import { MetadataCache } from './metadata-cache.ts'
import { createProducer } from './producer.ts'
import { createTopicAdmin } from './topic-admin.ts'

export type BrokerClientOptions = {
  readonly logger: Logger
  readonly clock?: Clock
  /** Creates the address under which another thread reaches the same backend. */
  readonly address: () => Promise<BrokerAddress>
}

type Closable = { close(): Promise<void> }

/** Implements `Broker` on top of a backend. Closing the broker closes the backend. */
export function createBrokerClient(home: BrokerBackend, options: BrokerClientOptions): Broker {
  const { logger, clock = systemClock } = options
  const topology = new MetadataCache(home)
  const open = new Set<Closable>()
  let closing: Promise<void> | undefined

  /** Tracks a resource until its owner or the broker closes it. */
  const owned = async <T extends Closable>(create: (onClose: () => void) => Promise<T> | T): Promise<T> => {
    const made: T = await create(() => open.delete(made))
    open.add(made)
    return made
  }

  const reader = (readerOptions = {}): LogReader => {
    const made: LogReader = new LogReader({ home, topology, clock, onClose: () => open.delete(made) }, readerOptions)
    open.add(made)
    return made
  }

  const broker: Broker = {
    address: options.address,
    topics: createTopicAdmin(home),
    groups: createGroupAdmin(home),
    clusterId: () => home.clusterId(),
    producer: (producerOptions = {}) =>
      owned((onClose) => createProducer({ home, topology, clock, onClose }, producerOptions)),
    hasTransactionalId: (transactionalId) => home.hasTransactionalId({ transactionalId }),
    reader,
    consumer: (consumerOptions) =>
      owned((onClose) =>
        createConsumer(
          { home, clock, logger, join: broker.joinGroup, reader: reader(consumerOptions), onClose },
          consumerOptions,
        ),
      ),
    joinGroup: (memberOptions) =>
      owned((onClose) => openGroupMembership({ home, clock, logger, onClose }, memberOptions)),
    close: () => {
      closing ??= closeAll(open, home)
      return closing
    },
  }
  return broker
}

/**
 * Closes resources in reverse order; consumers close their own readers and memberships. The backend is closed last, in
 * any case.
 */
async function closeAll(open: ReadonlySet<Closable>, home: BrokerBackend): Promise<void> {
  try {
    for (const made of [...open].reverse()) await made.close()
  } finally {
    await home.close()
  }
}
