import type { RegistryClient } from '../clients/registry.ts'
import type { WorkerClient } from '../clients/worker.ts'
import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { isKnown as isKnownConnector } from './connector/observed.ts'
import { Observer } from './controller/observer.ts'
import type { Urgency } from './controller/work-queue.ts'
import type { Entry, Estate, FaultyEntry, RegistryEntry, WorkerEntry } from './estate.ts'
import type { OperatorReadings } from './metrics.ts'
import { keyOf, type Resource, type ResourceKey } from './resources/resource.ts'
import { claimTo } from './resources/terms.ts'
import { isKnown as isKnownSubject } from './subject/observed.ts'

export type ObserversOptions = {
  readonly estate: Estate
  readonly cluster: Pick<Cluster, 'find' | 'list'>
  readonly clock: Clock
  readonly logger: Logger
  /** How often a worker is looked at; absent: as its entry says. */
  readonly observeWorkerMs?: number
  readonly connect: {
    worker(entry: WorkerEntry): Pick<WorkerClient, 'list'>
    registry(entry: RegistryEntry): Pick<RegistryClient, 'latestVersions'>
  }
  readonly wake: (key: ResourceKey, urgency: Urgency) => void
}

export type Observers = {
  start(): void
  /** Whether changes in this runtime reach its resources by themselves. */
  isSeen(runtime: Runtime, name: string): boolean
  readings(): ReturnType<OperatorReadings['observers']>
  stop(): Promise<void>
}
type Runtime = 'worker' | 'registry'

type Watch = {
  readonly runtime: Runtime
  readonly name: string
  readonly observer: Pick<Observer<unknown>, 'start' | 'stop' | 'isSeen' | 'lagMs'>
}

/**
 * One observer for each runtime. A thing that changed wakes the resource that stands for it, unless its status says so
 * already; an outage and its end wake all, since what each of them says of the runtime is no longer true.
 */
export function createObservers({ estate, cluster, connect, wake, ...options }: ObserversOptions): Observers {
  const { clock, observeWorkerMs, logger } = options
  const wakeAll = (resources: readonly Resource[]): void => {
    for (const resource of resources) wake(keyOf(resource), 'routine')
  }
  const ofWorker = (entry: WorkerEntry): Watch => {
    const { name } = entry
    const worker = connect.worker(entry)
    const observer = new Observer({
      clock,
      logger: logger.child({ worker: name }),
      intervalMs: observeWorkerMs ?? entry.observeMs,
      look: async () => new Map(Object.entries(await worker.list())),
      onChange(connector, seen) {
        for (const resource of cluster.find(claimTo('Connector', name, connector)))
          if (!isKnownConnector(resource, seen)) wake(keyOf(resource), 'user')
      },
      onAnswering: () => wakeAll(cluster.list('Connector').filter(({ spec }) => spec.workerRef.name === name)),
    })
    return { runtime: 'worker', name, observer }
  }
  const ofRegistry = (entry: RegistryEntry): Watch => {
    const { name } = entry
    const registry = connect.registry(entry)
    const observer = new Observer({
      clock,
      logger: logger.child({ registry: name }),
      intervalMs: entry.observeMs,
      look: () => registry.latestVersions(),
      onChange(subject, latest) {
        for (const resource of cluster.find(claimTo('Subject', name, subject)))
          if (!isKnownSubject(resource, latest)) wake(keyOf(resource), 'user')
      },
      onAnswering: () => wakeAll(cluster.list('Subject').filter(({ spec }) => spec.registryRef.name === name)),
    })
    return { runtime: 'registry', name, observer }
  }
  const watches = [...sound(estate.workers).map(ofWorker), ...sound(estate.registries).map(ofRegistry)]
  return {
    start() {
      for (const { observer } of watches) observer.start()
    },
    isSeen: (runtime, name) =>
      watches.some((watch) => watch.runtime === runtime && watch.name === name && watch.observer.isSeen),
    readings: () => watches.map(({ runtime, name, observer }) => ({ cluster: name, runtime, lagMs: observer.lagMs })),
    async stop() {
      await Promise.all(watches.map(({ observer }) => observer.stop()))
    },
  }
}

function sound<E extends Entry>(entries: readonly (E | FaultyEntry)[]): readonly E[] {
  return entries.filter((entry): entry is E => !('fault' in entry))
}
