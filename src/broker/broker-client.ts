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
  /** What another thread needs to reach the same home. */
  readonly address: () => Promise<BrokerAddress>
}

type Closable = { close(): Promise<void> }

/** Puts the client over a home. Closing it closes the home. */
export function createBrokerClient(home: BrokerBackend, options: BrokerClientOptions): Broker {
  const { logger, clock = systemClock } = options
  const topology = new MetadataCache(home)
  const open = new Set<Closable>()
  let closing: Promise<void> | undefined

  /** Remembers what was opened until it is closed, by its owner or with the broker. */
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

/** In the reverse order of opening; consumers close their own readers and members. The home goes last, whatever happens. */
async function closeAll(open: ReadonlySet<Closable>, home: BrokerBackend): Promise<void> {
  try {
    for (const made of [...open].reverse()) await made.close()
  } finally {
    await home.close()
  }
}
