import { type Endpoint, RequestError, requestJson } from '../clients/http.ts'
import { createRegistryClient } from '../clients/registry.ts'
import { createWorkerClient } from '../clients/worker.ts'
import { Lifecycle } from '../config/lifecycle.ts'
import { type Logger, secretMaskerOf } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { CircuitBreaker } from './controller/circuit-breaker.ts'
import { limitConcurrency } from './controller/concurrency-limit.ts'
import { Controller } from './controller/controller.ts'
import type { QueueState } from './controller/controller-metrics.ts'
import { type Fence, NotLeaderError, type Stoppable } from './controller/fence.ts'
import type { Priority } from './controller/flow.ts'
import { passesOf, type Reconciler } from './controller/reconciler.ts'
import { createReconcilers, type ReconcilerOptions } from './controllers.ts'
import type { OperatorMetrics, OperatorState } from './metrics.ts'
import {
  kindOfKey,
  RESOURCE_KINDS,
  type Resource,
  type ResourceKey,
  type ResourceKind,
  resourceKeyOf,
} from './resources/resource.ts'
import { createRuntimeObservers, type RuntimeObservers } from './runtime-observers.ts'
import { createRuntimes, type EndpointResolver, type RuntimeConfig, type RuntimesConfig } from './runtimes.ts'
import { sortByReferences } from './subject/references.ts'

export type ActiveOperatorOptions = Pick<ReconcilerOptions, 'clock' | 'instance' | 'resyncPeriodMs'> & {
  readonly cluster: Cluster
  readonly logger: Logger
  readonly runtimesConfig: RuntimesConfig
  /** The operator's own namespace. */
  readonly operatorNamespace: string
  /** How often a worker is looked at as a whole; absent: as its entry says. */
  readonly observeWorkerIntervalMs?: number
  readonly operatorMetrics: OperatorMetrics
}

/** What acts on resources while this process leads. */
export type ActiveOperator = Stoppable & {
  enqueue(key: ResourceKey, urgency: Priority): void
  queue(kind: ResourceKind): QueueState
  observers(): ReturnType<OperatorState['observers']>
}

/** How many resources of one kind are reconciled at the same time against one runtime. */
export const CONCURRENCY = 4
/** Passes may end by themselves for so long when it is stopped; then what they ask of runtimes is broken off. */
const DRAIN_MS = 3_000

/** Reconciles every resource there is, and goes on with those that are woken. */
export function startActiveOperator(options: ActiveOperatorOptions, fence: Fence): ActiveOperator {
  const { cluster, clock, logger, runtimesConfig } = options
  const life = new Lifecycle(logger)
  const halting = new AbortController()
  const signal = AbortSignal.any([fence.signal, halting.signal])
  const known: Known = { ...options, fence: { ...fence, signal } }
  const ways = new Map<string, Way>()
  const resolveEndpoint: EndpointResolver = (runtime, runtimeConfig) => {
    const name = `${runtime} ${runtimeConfig.name}`
    const way =
      ways.get(name) ?? wayTo(runtime, runtimeConfig, known, () => observers.enqueueAll(runtime, runtimeConfig.name))
    ways.set(name, way)
    return { ...way.endpoint, through: (call, send) => way.gate(() => way.circuit.execute(() => way.told(call, send))) }
  }
  const enqueue = (key: ResourceKey, urgency: Priority): void => controllers[kindOfKey(key)].queue.add(key, urgency)
  const connect = {
    worker: (runtimeConfig: RuntimeConfig) => createWorkerClient(resolveEndpoint('worker', runtimeConfig)),
    registry: (runtimeConfig: RuntimeConfig) => createRegistryClient(resolveEndpoint('registry', runtimeConfig)),
  }
  const observers = createRuntimeObservers({ ...options, runtimesConfig, connect, enqueue })
  const controllers = createControllers(known, resolveEndpoint, observers)
  for (const kind of RESOURCE_KINDS) {
    const resources = kind === 'Subject' ? sortByReferences(cluster.list(kind)) : cluster.list(kind)
    for (const resource of resources) enqueue(resourceKeyOf(resource), 'routine')
    controllers[kind].start()
  }
  observers.start()
  life.onStop('observers', () => observers.stop())
  // Before them: no pass begins while a look is waited for.
  life.onStop('controllers', () => Promise.all(RESOURCE_KINDS.map((kind) => controllers[kind].stop())))
  return {
    enqueue,
    queue: (kind) => controllers[kind].queue.state(),
    observers: () => observers.readings(),
    async stop() {
      const stopped = new AbortController()
      const halt = (): void => halting.abort(new NotLeaderError('the operator stops'))
      clock.sleep(DRAIN_MS, stopped.signal).then(halt, () => undefined)
      await life.stop()
      stopped.abort()
      halt()
    },
  }
}

type Known = ActiveOperatorOptions & { readonly fence: Fence }
/** What all calls to one runtime go through. */
type Way = {
  readonly endpoint: Endpoint
  readonly gate: ReturnType<typeof limitConcurrency>
  readonly circuit: CircuitBreaker
  /** Makes the call as one who may lose the lead, and counts it. */
  readonly told: NonNullable<Endpoint['through']>
}

/** One controller a kind, so that trouble with connectors keeps no subject waiting. */
function createControllers(
  options: Known,
  resolveEndpoint: EndpointResolver,
  { isObserved, isKnownAbsent }: RuntimeObservers,
): Record<ResourceKind, Controller<ResourceKey>> {
  const runtimes = createRuntimes(options.runtimesConfig, options, resolveEndpoint)
  const reconcilers = createReconcilers({
    ...options,
    runtimes,
    isObserved,
    isKnownAbsent,
    secrets: secretMaskerOf(options.logger),
  })
  return {
    RegistryMode: controllerOf(reconcilers.RegistryMode, options),
    Subject: controllerOf(reconcilers.Subject, options),
    Connector: controllerOf(reconcilers.Connector, options),
  }
}

function wayTo(
  runtime: 'worker' | 'registry',
  { name, endpoint: address, requestTimeoutMs, maxInFlight }: RuntimeConfig,
  { fence, operatorMetrics, clock, logger }: Known,
  onChange: () => void,
): Way {
  const endpoint = { ...address, timeoutMs: requestTimeoutMs }
  const told: Way['told'] = async (call, send) => {
    if (call.method !== 'GET') fence.assertFor(requestTimeoutMs)
    try {
      const answer = await send({ ...call, signal: fence.signal })
      operatorMetrics.runtimeCallEnded(name, runtime, call, answer.status)
      return answer
    } catch (error) {
      if (error instanceof RequestError) operatorMetrics.runtimeCallEnded(name, runtime, call, error.status)
      throw error
    }
  }
  const probing: Endpoint = { ...endpoint, through: (call, send) => circuit.attempt(() => told(call, send)) }
  const circuit: CircuitBreaker = new CircuitBreaker({
    clock,
    logger: logger.child({ [runtime]: name }),
    probe: () => requestJson(probing, { method: 'GET', path: '/' }),
    onChange,
    signal: fence.signal,
  })
  return { endpoint, gate: limitConcurrency(maxInFlight), circuit, told }
}

function controllerOf<K extends ResourceKind>(reconciler: Reconciler<K>, options: Known): Controller<ResourceKey> {
  const { clock, logger } = options
  const metrics = options.operatorMetrics.controller(reconciler.kind)
  const onEvent = (reason: string) => options.operatorMetrics.eventRecorded(reconciler.kind, reason)
  const pass = passesOf(reconciler, { ...options, metrics, onEvent })
  return new Controller<ResourceKey>({
    name: reconciler.kind,
    clock,
    logger,
    metrics,
    concurrency: CONCURRENCY,
    flowOf: (key) => runtimeNameOf(options.cluster.get(key)),
    reconcile: (key) => pass(key as ResourceKey<K>),
  })
}

/** Empty for a resource that is gone: nothing is called for it. */
function runtimeNameOf(resource: Resource | undefined): string {
  if (resource === undefined) return ''
  return resource.kind === 'Connector' ? resource.spec.workerRef.name : resource.spec.registryRef.name
}
