import type { RegistryClient } from '../clients/registry.ts'
import type { WorkerClient } from '../clients/worker.ts'
import type { Clock } from '../config/clock.ts'
import type { Logger } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { resolveConnectorName } from './connector/naming.ts'
import { isConnectorStatusCurrent } from './connector/observed.ts'
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
  RuntimeKind,
  RuntimesConfig,
  WorkerRuntimeConfig,
} from './runtimes.ts'
import { createLatestVersionsLister } from './subject/latest-versions.ts'
import { isSubjectStatusCurrent } from './subject/observed.ts'
import { runtimeNameOf } from './watch-mapping.ts'

export type RuntimeObserversOptions = {
  readonly runtimesConfig: RuntimesConfig
  readonly cluster: Pick<Cluster, 'list'>
  readonly clock: Clock
  readonly logger: Logger
  /** How often a worker is listed; absent: `observeInterval` of its configuration. */
  readonly observeWorkerIntervalMs?: number
  readonly connect: {
    worker(config: WorkerRuntimeConfig): Pick<WorkerClient, 'list'>
    registry(config: RegistryRuntimeConfig): Pick<RegistryClient, 'latest' | 'latestVersions'>
  }
  readonly enqueue: (key: ResourceKey, priority: Priority) => void
  /** Called when a runtime stops answering, and when it answers again. */
  readonly onAvailabilityChange: (runtime: RuntimeKind, name: string) => void
}

export type RuntimeObservers = {
  start(): void
  /** Whether changes in this runtime enqueue its resources, so that they need not be polled one by one. */
  isObserved(runtime: RuntimeKind, name: string): boolean
  /** Whether the last list of this runtime was made for this object and did not contain it. It may exist by now. */
  isKnownAbsent(runtime: RuntimeKind, name: string, object: string): boolean
  readings(): ReturnType<OperatorState['observers']>
  stop(): Promise<void>
}

/** How the objects of one kind are listed in a runtime and compared with their resources. */
type ObservedKind<K extends 'Connector' | 'Subject', T> = {
  readonly kind: K
  readonly runtime: RuntimeKind
  readonly name: string
  readonly intervalMs: number
  /** Receives the names that are declared; may list only those. */
  readonly list: (declared: readonly string[]) => Promise<ReadonlyMap<string, T>>
  readonly nameOf: (resource: Resource<K>) => string
  /** Whether the status of a resource already reports this object. */
  readonly isStatusCurrent: (resource: Resource<K>, object: T | undefined) => boolean
}

/** The observer of one runtime, whatever the type of its objects. */
type RuntimeObserver = {
  readonly runtime: RuntimeKind
  readonly name: string
  readonly observer: Pick<Observer<unknown>, 'start' | 'stop' | 'isObserved' | 'lagMs'>
  readonly isKnownAbsent: (object: string) => boolean
}

/**
 * Makes one observer for each runtime. A resource is enqueued when its object changed, or when the object differs from the
 * status of a Ready resource: a change that the operator made itself enqueues nothing.
 */
export function createRuntimeObservers(options: RuntimeObserversOptions): RuntimeObservers {
  const { runtimesConfig, connect, observeWorkerIntervalMs } = options
  const observeWorker = (config: WorkerRuntimeConfig): RuntimeObserver => {
    const worker = connect.worker(config)
    return observeKind(options, {
      kind: 'Connector',
      runtime: 'worker',
      name: config.name,
      intervalMs: observeWorkerIntervalMs ?? config.observeIntervalMs,
      list: async () => new Map(Object.entries(await worker.list())),
      nameOf: (resource) => resolveConnectorName(config, resource),
      isStatusCurrent: isConnectorStatusCurrent,
    })
  }
  const observeRegistry = (config: RegistryRuntimeConfig): RuntimeObserver =>
    observeKind(options, {
      kind: 'Subject',
      runtime: 'registry',
      name: config.name,
      intervalMs: config.observeIntervalMs,
      list: createLatestVersionsLister(connect.registry(config)),
      nameOf: subjectName,
      isStatusCurrent: isSubjectStatusCurrent,
    })
  const observers = [
    ...validConfigs(runtimesConfig.workers).map(observeWorker),
    ...validConfigs(runtimesConfig.registries).map(observeRegistry),
  ]
  const find = (runtime: RuntimeKind, name: string) =>
    observers.find((observer) => observer.runtime === runtime && observer.name === name)
  return {
    start() {
      for (const { observer } of observers) observer.start()
    },
    isObserved: (runtime, name) => find(runtime, name)?.observer.isObserved ?? false,
    isKnownAbsent: (runtime, name, object) => find(runtime, name)?.isKnownAbsent(object) ?? false,
    readings: () => observers.map(({ runtime, name, observer }) => ({ cluster: name, runtime, lagMs: observer.lagMs })),
    async stop() {
      await Promise.all(observers.map(({ observer }) => observer.stop()))
    },
  }
}

function observeKind<K extends 'Connector' | 'Subject', T>(
  { cluster, clock, logger, enqueue, onAvailabilityChange }: RuntimeObserversOptions,
  { kind, runtime, name, intervalMs, list, nameOf, isStatusCurrent }: ObservedKind<K, T>,
): RuntimeObserver {
  const resources = () => cluster.list(kind).filter((resource) => runtimeNameOf(resource) === name)
  const indexOf = (object: string) => externalObjectIndexFor(kind, name, object)
  let declared: readonly string[] = []
  let absent: ReadonlySet<IndexValue> = new Set()
  const observer = new Observer<T>({
    clock,
    logger: logger.child({ [runtime]: name }),
    intervalMs,
    list() {
      declared = resources().map(nameOf)
      return list(declared)
    },
    onListed(objects, changedNames) {
      const byIndex = new Map([...objects].map(([object, observed]) => [indexOf(object), observed]))
      absent = new Set(declared.map(indexOf).filter((index) => !byIndex.has(index)))
      const changed = new Set([...changedNames].map(indexOf))
      for (const resource of resources()) {
        const index = indexOf(nameOf(resource))
        const isAffected = changed.has(index) || isReady(resource.status, resource.metadata.generation)
        if (isAffected && !isStatusCurrent(resource, byIndex.get(index))) enqueue(resourceKeyOf(resource), 'user')
      }
    },
    onAvailabilityChange: () => onAvailabilityChange(runtime, name),
  })
  return { runtime, name, observer, isKnownAbsent: (object) => observer.isObserved && absent.has(indexOf(object)) }
}

function validConfigs<C extends RuntimeConfig>(configs: readonly (C | InvalidRuntimeConfig)[]): readonly C[] {
  return configs.filter((config): config is C => !('error' in config))
}
