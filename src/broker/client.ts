import { type Clock, systemClock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { Broker } from './broker.ts'
import { createConsumer } from './consumer.ts'
import { createGroups } from './groups.ts'
import type { BrokerAddress, Home } from './home.ts'
import { joinGroup } from './member.ts'
import { createProducer } from './producer.ts'
import { LogReader } from './reader.ts'
import { createTopics } from './topics.ts'
import { Topology } from './topology.ts'

export type ClientOptions = {
  readonly logger: Logger
  readonly clock?: Clock
  /** What another thread needs to reach the same home. */
  readonly address: () => Promise<BrokerAddress>
}

type Closable = { close(): Promise<void> }

/** Puts the client over a home. Closing it closes the home. */
export function createBroker(home: Home, options: ClientOptions): Broker {
  const { logger, clock = systemClock } = options
  const topology = new Topology(home)
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
    topics: createTopics(home),
    groups: createGroups(home),
    clusterId: () => home.clusterId(),
    producer: (producerOptions = {}) =>
      owned((onClose) => createProducer({ home, topology, clock, onClose }, producerOptions)),
    hasHadProducer: (transactionalId) => home.knowsTransactionalId({ transactionalId }),
    reader,
    consumer: (consumerOptions) =>
      owned((onClose) =>
        createConsumer(
          { home, clock, logger, join: broker.member, reader: reader(consumerOptions), onClose },
          consumerOptions,
        ),
      ),
    member: (memberOptions) => owned((onClose) => joinGroup({ home, clock, logger, onClose }, memberOptions)),
    close: () => {
      closing ??= closeAll(open, home)
      return closing
    },
  }
  return broker
}

/** In the reverse order of opening; consumers close their own readers and members. The home goes last, whatever happens. */
async function closeAll(open: ReadonlySet<Closable>, home: Home): Promise<void> {
  try {
    for (const made of [...open].reverse()) await made.close()
  } finally {
    await home.close()
  }
}
