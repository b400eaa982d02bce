import type { RegistryClient } from '../clients/registry.ts'
import type { WorkerClient } from '../clients/worker.ts'
import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { resolveConnectorName } from './connector/naming.ts'
import { isConnectorStatusCurrent as isKnownConnector } from './connector/observed.ts'
import type { Priority } from './controller/flow.ts'
import { Observer } from './controller/observer.ts'
import type { OperatorState } from './metrics.ts'
import { isReady } from './resources/condition.ts'
import { externalObjectIndexFor, type IndexValue, subjectName } from './resources/index-values.ts'
import { type Resource, type ResourceKey, resourceKeyOf } from './resources/resource.ts'
import type {
  InvalidRuntimeConfig,
  RegistryRuntimeConfig,
  RuntimeConfig,
  RuntimesConfig,
  WorkerRuntimeConfig,
} from './runtimes.ts'
import { createLatestVersionsLister } from './subject/latest-versions.ts'
import { isSubjectStatusCurrent as isKnownSubject } from './subject/observed.ts'
import { sortByReferences } from './subject/references.ts'

export type RuntimeObserversOptions = {
  readonly runtimesConfig: RuntimesConfig
  readonly cluster: Pick<Cluster, 'find' | 'list'>
  readonly clock: Clock
  readonly logger: Logger
  /** How often a worker is looked at; absent: as its entry says. */
  readonly observeWorkerIntervalMs?: number
  readonly connect: {
    worker(runtimeConfig: WorkerRuntimeConfig): Pick<WorkerClient, 'list'>
    registry(runtimeConfig: RegistryRuntimeConfig): Pick<RegistryClient, 'latest' | 'latestVersions'>
  }
  readonly enqueue: (key: ResourceKey, urgency: Priority) => void
}

export type RuntimeObservers = {
  start(): void
  /** Wakes all resources of a runtime, in the order in which they need each other. */
  enqueueAll(runtime: Runtime, name: string): void
  /** Whether changes in this runtime reach its resources by themselves. */
  isObserved(runtime: Runtime, name: string): boolean
  /** Whether the last look at this runtime, when it was declared already, did not show it. It may be there since. */
  isKnownAbsent(runtime: Runtime, name: string, thing: string): boolean
  readings(): ReturnType<OperatorState['observers']>
  stop(): Promise<void>
}
type Runtime = 'worker' | 'registry'

type Watched<K extends 'Connector' | 'Subject', Thing> = {
  readonly kind: K
  readonly runtime: Runtime
  readonly runtimeConfig: RuntimeConfig
  /** Absent: as the entry says. */
  readonly intervalMs?: number | undefined
  /** Is told what those are called that are declared. */
  readonly look: (declared: readonly string[]) => Promise<ReadonlyMap<string, Thing>>
  /** What its thing is called there. */
  readonly nameOf: (resource: Resource<K>) => string
  readonly isKnown: (resource: Resource<K>, thing: Thing | undefined) => boolean
}
type Watch = {
  readonly runtime: Runtime
  readonly name: string
  readonly observer: Pick<Observer<unknown>, 'start' | 'stop' | 'isObserved' | 'lagMs'>
  readonly isKnownAbsent: (thing: string) => boolean
}

/**
 * One observer for each runtime. A resource is woken when its thing changed, or is not what a Ready one says it is, so
 * that nobody is woken by what the operator did itself. An outage and its end wake all: what each of them says of the
 * runtime is no longer true.
 */
export function createRuntimeObservers({
  runtimesConfig,
  cluster,
  connect,
  enqueue,
  ...options
}: RuntimeObserversOptions): RuntimeObservers {
  const { clock, observeWorkerIntervalMs, logger } = options
  const watch = <K extends 'Connector' | 'Subject', Thing>({
    kind,
    runtime,
    runtimeConfig,
    ...own
  }: Watched<K, Thing>): Watch => {
    const { name, observeIntervalMs } = runtimeConfig
    const held = () => cluster.list(kind).filter((resource) => runtimeOf(resource) === name)
    const claim = (thing: string) => externalObjectIndexFor(kind, name, thing)
    let declared: readonly string[] = []
    let lacking: ReadonlySet<IndexValue> = new Set()
    const observer = new Observer<Thing>({
      clock,
      logger: logger.child({ [runtime]: name }),
      intervalMs: own.intervalMs ?? observeIntervalMs,
      list() {
        declared = held().map(own.nameOf)
        return own.look(declared)
      },
      onListed(things, changed) {
        const byClaim = new Map([...things].map(([thing, seen]) => [claim(thing), seen]))
        lacking = new Set(declared.map(claim).filter((of) => !byClaim.has(of)))
        const news = new Set([...changed].map(claim))
        for (const resource of held()) {
          const { status, metadata } = resource
          const of = claim(own.nameOf(resource))
          const isConcerned = news.has(of) || isReady(status, metadata.generation)
          if (isConcerned && !own.isKnown(resource, byClaim.get(of))) enqueue(resourceKeyOf(resource), 'user')
        }
      },
      onAvailabilityChange: () => enqueueAll(runtime, name),
    })
    return { runtime, name, observer, isKnownAbsent: (thing) => observer.isObserved && lacking.has(claim(thing)) }
  }
  const enqueueAll: RuntimeObservers['enqueueAll'] = (runtime, name) => {
    for (const resource of inOrder(runtime, cluster)) {
      if (runtimeOf(resource) === name) enqueue(resourceKeyOf(resource), 'routine')
    }
  }
  const ofWorker = (runtimeConfig: WorkerRuntimeConfig): Watch => {
    const worker = connect.worker(runtimeConfig)
    const look = async () => new Map(Object.entries(await worker.list()))
    const intervalMs = observeWorkerIntervalMs
    const nameOf = (resource: Resource<'Connector'>) => resolveConnectorName(runtimeConfig, resource)
    return watch({
      kind: 'Connector',
      runtime: 'worker',
      runtimeConfig,
      look,
      nameOf,
      isKnown: isKnownConnector,
      intervalMs,
    })
  }
  const ofRegistry = (runtimeConfig: RegistryRuntimeConfig): Watch => {
    const look = createLatestVersionsLister(connect.registry(runtimeConfig))
    return watch({
      kind: 'Subject',
      runtime: 'registry',
      runtimeConfig,
      look,
      nameOf: subjectName,
      isKnown: isKnownSubject,
    })
  }
  const watchOf = (runtime: Runtime, name: string) =>
    watches.find((watch) => watch.runtime === runtime && watch.name === name)
  const watches = [...sound(runtimesConfig.workers).map(ofWorker), ...sound(runtimesConfig.registries).map(ofRegistry)]
  return {
    start() {
      for (const { observer } of watches) observer.start()
    },
    enqueueAll,
    isObserved: (runtime, name) => watchOf(runtime, name)?.observer.isObserved ?? false,
    isKnownAbsent: (runtime, name, thing) => watchOf(runtime, name)?.isKnownAbsent(thing) ?? false,
    readings: () => watches.map(({ runtime, name, observer }) => ({ cluster: name, runtime, lagMs: observer.lagMs })),
    async stop() {
      await Promise.all(watches.map(({ observer }) => observer.stop()))
    },
  }
}

function sound<E extends RuntimeConfig>(entries: readonly (E | InvalidRuntimeConfig)[]): readonly E[] {
  return entries.filter((runtimeConfig): runtimeConfig is E => !('error' in runtimeConfig))
}

function inOrder(runtime: Runtime, cluster: Pick<Cluster, 'list'>): readonly Resource[] {
  if (runtime === 'worker') return cluster.list('Connector')
  return [...cluster.list('RegistryMode'), ...sortByReferences(cluster.list('Subject'))]
}

function runtimeOf({ spec }: Resource): string {
  return 'workerRef' in spec ? spec.workerRef.name : spec.registryRef.name
}
