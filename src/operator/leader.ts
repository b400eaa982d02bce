import { type Endpoint, RequestError } from '../clients/http.ts'
import { createRegistryClient } from '../clients/registry.ts'
import { createWorkerClient, type WorkerClient } from '../clients/worker.ts'
import { Lifecycle } from '../config/lifecycle.ts'
import type { Logger } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { WorkerObserver } from './connector/observer.ts'
import { Controller } from './controller/controller.ts'
import { type Fence, NotLeading, type Office } from './controller/leadership.ts'
import type { QueueReading } from './controller/meter.ts'
import { passesOf, type Reconciler } from './controller/reconciler.ts'
import type { Urgency } from './controller/work-queue.ts'
import type { OperatorMeters } from './metrics.ts'
import { createReconcilers, type ReconcilerOptions } from './reconcilers.ts'
import { KINDS, type Kind, keyOf, kindOf, type ResourceKey } from './resources/resource.ts'
import { connectorName } from './resources/terms.ts'

export type LeaderOptions = Pick<ReconcilerOptions, 'clock' | 'instance' | 'resyncMs'> & {
  readonly cluster: Cluster
  readonly logger: Logger
  readonly registryUrl: string
  readonly workerUrl: string
  /** How often the worker is looked at as a whole. */
  readonly observeWorkerMs?: number
  readonly meters: OperatorMeters
}

/** What acts on resources while this process leads. */
export type Leader = Office & {
  wake(key: ResourceKey, urgency: Urgency): void
  queue(kind: Kind): QueueReading
  observers(): readonly { readonly cluster: string; readonly lagMs: number }[]
}

/** What resources call their worker and their registry when they don't name another one. */
const DEFAULT = 'default'
const OBSERVE_WORKER_MS = 30_000
const REQUEST_MS = 10_000
/** Passes of one kind at the same time. */
export const CONCURRENCY = 4
/** Passes may end by themselves for so long when it is stopped; then what they ask of runtimes is broken off. */
const DRAIN_MS = 3_000

/** Reconciles every resource there is, and goes on with those that are woken. */
export function startLeader(options: LeaderOptions, fence: Fence): Leader {
  const { cluster, clock, logger } = options
  const life = new Lifecycle(logger)
  const halting = new AbortController()
  const signal = AbortSignal.any([fence.signal, halting.signal])
  const known: Known = { ...options, fence: { ...fence, signal } }
  const controllers = createControllers(known)
  const wake = (key: ResourceKey, urgency: Urgency): void => controllers[kindOf(key)].queue.add(key, urgency)
  for (const kind of KINDS) {
    for (const resource of cluster.list(kind)) wake(keyOf(resource), 'routine')
    controllers[kind].start()
  }
  life.onStop('controllers', () => Promise.all(KINDS.map((kind) => controllers[kind].stop())))
  const observer = observeWorker(known, wake, life)
  return {
    wake,
    queue: (kind) => controllers[kind].queue.reading(),
    observers: () => [{ cluster: DEFAULT, lagMs: observer.lagMs }],
    async stop() {
      const stopped = new AbortController()
      clock.sleep(DRAIN_MS, stopped.signal).then(
        () => halting.abort(new NotLeading('the operator stops')),
        () => undefined,
      )
      await life.stop()
      stopped.abort()
    },
  }
}

type Known = LeaderOptions & { readonly fence: Fence }

/** One controller a kind, so that trouble with connectors keeps no subject waiting. */
function createControllers(options: Known): Record<Kind, Controller<ResourceKey>> {
  const registry = createRegistryClient(endpointOf('registry', options.registryUrl, options))
  const reconcilers = createReconcilers({ ...options, registry, worker: workerOf(options) })
  return {
    RegistryMode: controllerOf(reconcilers.RegistryMode, options),
    Subject: controllerOf(reconcilers.Subject, options),
    Connector: controllerOf(reconcilers.Connector, options),
  }
}

function workerOf(options: Known): WorkerClient {
  return createWorkerClient(endpointOf('worker', options.workerUrl, options))
}

/** A runtime as one who may lose the lead reaches it. */
function endpointOf(runtime: 'worker' | 'registry', url: string, { fence, meters }: Known): Endpoint {
  return {
    url,
    timeoutMs: REQUEST_MS,
    async through(call, send) {
      if (call.method !== 'GET') fence.assertFor(REQUEST_MS)
      try {
        const answer = await send({ ...call, signal: fence.signal })
        meters.called(DEFAULT, runtime, call, answer.status)
        return answer
      } catch (error) {
        if (error instanceof RequestError) meters.called(DEFAULT, runtime, call, error.status)
        throw error
      }
    },
  }
}

function controllerOf<K extends Kind>(reconciler: Reconciler<K>, options: Known): Controller<ResourceKey> {
  const { clock, logger } = options
  const meter = options.meters.controller(reconciler.kind)
  const onEvent = (reason: string) => options.meters.happened(reconciler.kind, reason)
  const pass = passesOf(reconciler, { ...options, meter, onEvent })
  return new Controller<ResourceKey>({
    name: reconciler.kind,
    clock,
    logger,
    meter,
    concurrency: CONCURRENCY,
    reconcile: (key) => pass(key as ResourceKey<K>),
  })
}

function observeWorker(options: Known, wake: Leader['wake'], life: Lifecycle): WorkerObserver {
  const { cluster, clock, logger, observeWorkerMs: intervalMs = OBSERVE_WORKER_MS } = options
  const onChange = (name: string): void => {
    for (const resource of cluster.list('Connector'))
      if (connectorName(resource) === name) wake(keyOf(resource), 'user')
  }
  const observer = new WorkerObserver({ worker: workerOf(options), clock, logger, intervalMs, onChange })
  observer.start()
  life.onStop('worker observer', () => observer.stop())
  return observer
}
