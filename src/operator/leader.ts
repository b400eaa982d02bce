import { type Endpoint, RequestError, request } from '../clients/http.ts'
import { createRegistryClient } from '../clients/registry.ts'
import { createWorkerClient } from '../clients/worker.ts'
import { Lifecycle } from '../config/lifecycle.ts'
import { type Logger, secretsOf } from '../config/logger.ts'
import type { Cluster } from './cluster/cluster.ts'
import { Circuit } from './controller/circuit.ts'
import { Controller } from './controller/controller.ts'
import type { Urgency } from './controller/flow.ts'
import { limitedTo } from './controller/in-flight.ts'
import { type Fence, NotLeading, type Office } from './controller/leadership.ts'
import type { QueueReading } from './controller/meter.ts'
import { passesOf, type Reconciler } from './controller/reconciler.ts'
import { type Entry, type Estate, type Reach, runtimesOf } from './estate.ts'
import type { OperatorMeters, OperatorReadings } from './metrics.ts'
import { createObservers, type Observers } from './observers.ts'
import { createReconcilers, type ReconcilerOptions } from './reconcilers.ts'
import { KINDS, type Kind, keyOf, kindOf, type Resource, type ResourceKey } from './resources/resource.ts'
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

/** How many resources of one kind are reconciled at the same time against one runtime. */
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
  const ways = new Map<string, Way>()
  const reach: Reach = (runtime, entry) => {
    const name = `${runtime} ${entry.name}`
    const way = ways.get(name) ?? wayTo(runtime, entry, known, () => observers.wakeAll(runtime, entry.name))
    ways.set(name, way)
    return { ...way.endpoint, through: (call, send) => way.gate(() => way.circuit.through(() => way.told(call, send))) }
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
  observers.start()
  life.onStop('observers', () => observers.stop())
  // Before them: no pass begins while a look is waited for.
  life.onStop('controllers', () => Promise.all(KINDS.map((kind) => controllers[kind].stop())))
  return {
    wake,
    queue: (kind) => controllers[kind].queue.reading(),
    observers: () => observers.readings(),
    async stop() {
      const stopped = new AbortController()
      const halt = (): void => halting.abort(new NotLeading('the operator stops'))
      clock.sleep(DRAIN_MS, stopped.signal).then(halt, () => undefined)
      await life.stop()
      stopped.abort()
      halt()
    },
  }
}

type Known = LeaderOptions & { readonly fence: Fence }
/** What all calls to one runtime go through. */
type Way = {
  readonly endpoint: Endpoint
  readonly gate: ReturnType<typeof limitedTo>
  readonly circuit: Circuit
  /** Makes the call as one who may lose the lead, and counts it. */
  readonly told: NonNullable<Endpoint['through']>
}

/** One controller a kind, so that trouble with connectors keeps no subject waiting. */
function createControllers(
  options: Known,
  reach: Reach,
  { isSeen, lacks }: Observers,
): Record<Kind, Controller<ResourceKey>> {
  const runtimes = runtimesOf(options.estate, options, reach)
  const reconcilers = createReconcilers({ ...options, runtimes, isSeen, lacks, secrets: secretsOf(options.logger) })
  return {
    RegistryMode: controllerOf(reconcilers.RegistryMode, options),
    Subject: controllerOf(reconcilers.Subject, options),
    Connector: controllerOf(reconcilers.Connector, options),
  }
}

function wayTo(
  runtime: 'worker' | 'registry',
  { name, endpoint: address, requestMs, inFlightMax }: Entry,
  { fence, meters, clock, logger }: Known,
  onChange: () => void,
): Way {
  const endpoint = { ...address, timeoutMs: requestMs }
  const told: Way['told'] = async (call, send) => {
    if (call.method !== 'GET') fence.assertFor(requestMs)
    try {
      const answer = await send({ ...call, signal: fence.signal })
      meters.called(name, runtime, call, answer.status)
      return answer
    } catch (error) {
      if (error instanceof RequestError) meters.called(name, runtime, call, error.status)
      throw error
    }
  }
  const probing: Endpoint = { ...endpoint, through: (call, send) => circuit.attempt(() => told(call, send)) }
  const circuit: Circuit = new Circuit({
    clock,
    logger: logger.child({ [runtime]: name }),
    probe: () => request(probing, { method: 'GET', path: '/' }),
    onChange,
    signal: fence.signal,
  })
  return { endpoint, gate: limitedTo(inFlightMax), circuit, told }
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
    flowOf: (key) => runtimeNameOf(options.cluster.get(key)),
    reconcile: (key) => pass(key as ResourceKey<K>),
  })
}

/** Empty for a resource that is gone: nothing is called for it. */
function runtimeNameOf(resource: Resource | undefined): string {
  if (resource === undefined) return ''
  return resource.kind === 'Connector' ? resource.spec.workerRef.name : resource.spec.registryRef.name
}
