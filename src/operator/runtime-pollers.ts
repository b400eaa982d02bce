import type { RegistryClient } from '../clients/registry-client.ts'
import type { WorkerClient } from '../clients/worker-client.ts'
import type { Clock } from '../common/clock.ts'
import type { Logger } from '../common/logging/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { resolveConnectorName } from './connector/connector-name.ts'
import { isConnectorStatusCurrent } from './connector/observed-connector.ts'
import { ListPoller } from './controller/list-poller.ts'
import type { Priority } from './controller/priority-queue.ts'
import type { OperatorState } from './operator-metrics.ts'
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
import { isSubjectStatusCurrent } from './subject/observed-subject.ts'
import { runtimeNameOf } from './watch-mapping.ts'

export type RuntimePollersOptions = {
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

export type RuntimePollers = {
  start(): void
  /** Whether changes in this runtime enqueue its resources, so that they need not be polled one by one. */
  isPolled(runtime: RuntimeKind, name: string): boolean
  /** Whether the last list of this runtime was made for this object and did not contain it. It may exist by now. */
  isKnownAbsent(runtime: RuntimeKind, name: string, object: string): boolean
  lags(): ReturnType<OperatorState['pollLags']>
  stop(): Promise<void>
}

/** How the objects of one kind are listed in a runtime and compared with their resources. */
type PolledKind<K extends 'Connector' | 'Subject', T> = {
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

/** The poller of one runtime, independent of the type of its objects. */
type RuntimePoller = {
  readonly runtime: RuntimeKind
  readonly name: string
  readonly poller: Pick<ListPoller<unknown>, 'start' | 'stop' | 'isAvailable' | 'lagMs'>
  readonly isKnownAbsent: (object: string) => boolean
}

/**
 * Creates one poller for each runtime. A resource is enqueued when its object changed, or when the object differs from
 * the status of a Ready resource: a change that the operator made itself enqueues nothing.
 */
export function createRuntimePollers(options: RuntimePollersOptions): RuntimePollers {
  const { runtimesConfig, connect, observeWorkerIntervalMs } = options
  const pollWorker = (config: WorkerRuntimeConfig): RuntimePoller => {
    const worker = connect.worker(config)
    return pollKind(options, {
      kind: 'Connector',
      runtime: 'worker',
      name: config.name,
      intervalMs: observeWorkerIntervalMs ?? config.observeIntervalMs,
      list: async () => new Map(Object.entries(await worker.list())),
      nameOf: (resource) => resolveConnectorName(config, resource),
      isStatusCurrent: isConnectorStatusCurrent,
    })
  }
  const pollRegistry = (config: RegistryRuntimeConfig): RuntimePoller =>
    pollKind(options, {
      kind: 'Subject',
      runtime: 'registry',
      name: config.name,
      intervalMs: config.observeIntervalMs,
      list: createLatestVersionsLister(connect.registry(config)),
      nameOf: subjectName,
      isStatusCurrent: isSubjectStatusCurrent,
    })
  const pollers = [
    ...validConfigs(runtimesConfig.workers).map(pollWorker),
    ...validConfigs(runtimesConfig.registries).map(pollRegistry),
  ]
  const find = (runtime: RuntimeKind, name: string) =>
    pollers.find((each) => each.runtime === runtime && each.name === name)
  return {
    start() {
      for (const { poller } of pollers) poller.start()
    },
    isPolled: (runtime, name) => find(runtime, name)?.poller.isAvailable ?? false,
    isKnownAbsent: (runtime, name, object) => find(runtime, name)?.isKnownAbsent(object) ?? false,
    lags: () => pollers.map(({ runtime, name, poller }) => ({ cluster: name, runtime, lagMs: poller.lagMs })),
    async stop() {
      await Promise.all(pollers.map(({ poller }) => poller.stop()))
    },
  }
}

function pollKind<K extends 'Connector' | 'Subject', T>(
  { cluster, clock, logger, enqueue, onAvailabilityChange }: RuntimePollersOptions,
  { kind, runtime, name, intervalMs, list, nameOf, isStatusCurrent }: PolledKind<K, T>,
): RuntimePoller {
  const resources = () => cluster.list(kind).filter((resource) => runtimeNameOf(resource) === name)
  const indexOf = (object: string) => externalObjectIndexFor(kind, name, object)
  let declared: readonly string[] = []
  let absent: ReadonlySet<IndexValue> = new Set()
  const poller = new ListPoller<T>({
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
  return {
    runtime,
    name,
    poller,
    isKnownAbsent: (object) => poller.isAvailable && absent.has(indexOf(object)),
  }
}

function validConfigs<C extends RuntimeConfig>(configs: readonly (C | InvalidRuntimeConfig)[]): readonly C[] {
  return configs.filter((config): config is C => !('error' in config))
}
