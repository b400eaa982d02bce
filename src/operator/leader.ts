import { type Endpoint, RequestError } from '../clients/http.ts'
import { createRegistryClient } from '../clients/registry.ts'
import { createWorkerClient } from '../clients/worker.ts'
import { Lifecycle } from '../config/lifecycle.ts'
import type { Logger } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { Controller } from './controller/controller.ts'
import { limitedTo } from './controller/in-flight.ts'
import { type Fence, NotLeading, type Office } from './controller/leadership.ts'
import type { QueueReading } from './controller/meter.ts'
import { passesOf, type Reconciler } from './controller/reconciler.ts'
import type { Urgency } from './controller/work-queue.ts'
import { type Entry, type Estate, type Reach, runtimesOf } from './estate.ts'
import type { OperatorMeters, OperatorReadings } from './metrics.ts'
import { createObservers, type Observers } from './observers.ts'
import { createReconcilers, type ReconcilerOptions } from './reconcilers.ts'
import { KINDS, type Kind, keyOf, kindOf, type ResourceKey } from './resources/resource.ts'
import { referentsFirst } from './subject/references.ts'

export type LeaderOptions = Pick<ReconcilerOptions, 'clock' | 'instance' | 'resyncMs'> & {
  readonly cluster: Cluster
  readonly logger: Logger
  readonly estate: Estate
  /** The operator's own namespace. */
  readonly home: string
  /** How often a worker is looked at as a whole; absent: as its entry says. */
  readonly observeWorkerMs?: number
  readonly meters: OperatorMeters
}

/** What acts on resources while this process leads. */
export type Leader = Office & {
  wake(key: ResourceKey, urgency: Urgency): void
  queue(kind: Kind): QueueReading
  observers(): ReturnType<OperatorReadings['observers']>
}

/** Passes of one kind at the same time. */
export const CONCURRENCY = 4
/** Passes may end by themselves for so long when it is stopped; then what they ask of runtimes is broken off. */
const DRAIN_MS = 3_000

/** Reconciles every resource there is, and goes on with those that are woken. */
export function startLeader(options: LeaderOptions, fence: Fence): Leader {
  const { cluster, clock, logger, estate } = options
  const life = new Lifecycle(logger)
  const halting = new AbortController()
  const signal = AbortSignal.any([fence.signal, halting.signal])
  const known: Known = { ...options, fence: { ...fence, signal } }
  const gates = new Map<string, Gate>()
  const reach: Reach = (runtime, entry) => {
    const name = `${runtime} ${entry.name}`
    const gate = gates.get(name) ?? limitedTo(entry.inFlightMax)
    gates.set(name, gate)
    return endpointOf(runtime, entry, gate, known)
  }
  const wake = (key: ResourceKey, urgency: Urgency): void => controllers[kindOf(key)].queue.add(key, urgency)
  const connect = {
    worker: (entry: Entry) => createWorkerClient(reach('worker', entry)),
    registry: (entry: Entry) => createRegistryClient(reach('registry', entry)),
  }
  const observers = createObservers({ ...options, estate, connect, wake })
  const controllers = createControllers(known, reach, observers)
  for (const kind of KINDS) {
    const resources = kind === 'Subject' ? referentsFirst(cluster.list(kind)) : cluster.list(kind)
    for (const resource of resources) wake(keyOf(resource), 'routine')
    controllers[kind].start()
  }
  life.onStop('controllers', () => Promise.all(KINDS.map((kind) => controllers[kind].stop())))
  observers.start()
  life.onStop('observers', () => observers.stop())
  return {
    wake,
    queue: (kind) => controllers[kind].queue.reading(),
    observers: () => observers.readings(),
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
/** What all calls to one runtime go through. */
type Gate = ReturnType<typeof limitedTo>

/** One controller a kind, so that trouble with connectors keeps no subject waiting. */
function createControllers(options: Known, reach: Reach, { isSeen }: Observers): Record<Kind, Controller<ResourceKey>> {
  const runtimes = runtimesOf(options.estate, options.home, reach)
  const reconcilers = createReconcilers({ ...options, runtimes, isSeen })
  return {
    RegistryMode: controllerOf(reconcilers.RegistryMode, options),
    Subject: controllerOf(reconcilers.Subject, options),
    Connector: controllerOf(reconcilers.Connector, options),
  }
}

/** A runtime as one who may lose the lead reaches it. */
function endpointOf(
  runtime: 'worker' | 'registry',
  { name, endpoint, requestMs }: Entry,
  gate: Gate,
  { fence, meters }: Known,
): Endpoint {
  return {
    ...endpoint,
    timeoutMs: requestMs,
    through: (call, send) =>
      gate(async () => {
        if (call.method !== 'GET') fence.assertFor(requestMs)
        try {
          const answer = await send({ ...call, signal: fence.signal })
          meters.called(name, runtime, call, answer.status)
          return answer
        } catch (error) {
          if (error instanceof RequestError) meters.called(name, runtime, call, error.status)
          throw error
        }
      }),
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
