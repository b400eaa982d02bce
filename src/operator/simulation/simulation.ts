import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../common/clock.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { CompatibilityWorker } from '../../compatibility-worker/compatibility-worker.ts'
import { type DryRunVerdict, dryRunVerdict, usageWarnings, verdictOfError } from '../admission/dry-run-verdict.ts'
import { resolveConnectorName } from '../connector/connector-name.ts'
import type { ReconcileResult, Reconciler } from '../controller/reconciler.ts'
import { createReconcilers, type Reconcilers } from '../controllers.ts'
import { buildConditions } from '../resources/condition.ts'
import { immutableFieldError } from '../resources/immutable-fields.ts'
import { subjectsNamedBy } from '../resources/index-values.ts'
import type { DeclaredResource } from '../resources/parse-resource.ts'
import {
  RESOURCE_KINDS,
  type Resource,
  type ResourceKey,
  type ResourceKind,
  resourceKey,
  resourceKeyOf,
} from '../resources/resource.ts'
import { type Runtimes, type RuntimesConfig, runtimesWithClients } from '../runtimes.ts'
import { subjectsByDepth } from '../subject/reference-order.ts'
import { RegistryOverlay, type RegistryReader } from './registry-overlay.ts'
import type { RecordChange, RuntimeChange } from './runtime-change.ts'
import { SimulatedCluster } from './simulated-cluster.ts'
import { WorkerOverlay, type WorkerReader } from './worker-overlay.ts'

export type SimulationOptions = {
  readonly runtimesConfig: RuntimesConfig
  /** The state of a runtime, by its name in the configuration. */
  readonly registry: (name: string) => RegistryReader
  readonly worker: (name: string) => WorkerReader
  /** Part of the ownership marker of connectors. */
  readonly instance?: string
  /** The namespace that the operator runs in, for `allowedNamespaces: {from: Same}`. */
  readonly operatorNamespace: string
  readonly clock: Clock
}

/** All manifests that are applied together. */
export type DeclaredState = {
  readonly resources: readonly DeclaredResource[]
  /** Data of the ConfigMaps, by `namespace/name`. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>
}

/** What applying one resource does. */
export type SimulatedResource = {
  readonly key: ResourceKey
  readonly verdict: DryRunVerdict
  /** Warnings about a valid resource that may not be intended. */
  readonly advice: readonly string[]
  /** About keys of a connector's configuration that have no effect. */
  readonly ineffective: readonly string[]
  /** Names of Subjects that the resource refers to and that no manifest declares. */
  readonly missingReferences: readonly string[]
  /** In the order in which they are sent to the runtime. */
  readonly changes: readonly RuntimeChange[]
  /** The manifest was removed, so the resource is deleted. */
  readonly isDeletion: boolean
}

/** The steps of a reconcile end after a few rounds; more than this many show a bug. */
const ROUNDS_MAX = 20

/**
 * Applies manifests to runtimes in memory. It runs the admission's dry run and then the reconcilers themselves, in the
 * order of dependencies, until they have nothing left to write. Nothing is written to a real runtime.
 */
export class Simulation {
  readonly #options: SimulationOptions
  readonly #cluster = new SimulatedCluster(0)
  readonly #registries = new Map<string, RegistryOverlay>()
  readonly #workers = new Map<string, WorkerOverlay>()
  /** Not closed: its child process ends together with this process. */
  readonly #compatibilityWorker = new CompatibilityWorker()

  constructor(options: SimulationOptions) {
    this.#options = options
  }

  /**
   * Applies a complete set of manifests. Resources of an earlier call whose manifests are missing now are deleted. The
   * outcomes are in the order in which the resources were applied.
   */
  async apply({ resources, configMaps }: DeclaredState): Promise<readonly SimulatedResource[]> {
    const declared = new Set(resources.map(({ kind, namespace, name }) => resourceKey(kind, namespace, name)))
    const removed = this.#cluster.all().filter((resource) => !declared.has(resourceKeyOf(resource)))
    this.#cluster.setConfigMaps(configMaps)
    const rejected: SimulatedResource[] = []
    for (const resource of resources) {
      const rejection = this.#declare(resource)
      if (rejection !== undefined) rejected.push(rejection)
    }
    const keys = new Set(rejected.map(({ key }) => key))
    const outcomes: SimulatedResource[] = [...rejected]
    for (const wave of this.#waves()) {
      const present = wave.filter((key) => declared.has(key) && !keys.has(key))
      outcomes.push(...(await mapConcurrently(present, (key) => this.#applyOne(key))))
    }
    // Referring resources are deleted before those that they refer to.
    const deleted = new Set(removed.map(resourceKeyOf))
    for (const wave of this.#waves().toReversed()) {
      for (const key of wave) if (deleted.has(key)) outcomes.push(await this.#delete(key))
    }
    return outcomes
  }

  /** The rejection of a change that the definition of the kind forbids. */
  #declare(declared: DeclaredResource): SimulatedResource | undefined {
    const { kind, namespace, name } = declared
    const key = resourceKey(kind, namespace, name)
    const known = this.#cluster.get(key)
    const message = known && immutableFieldError(kind, known.spec, declared.spec)
    if (message === undefined) {
      this.#cluster.declare(declared)
      return undefined
    }
    const [field = 'spec'] = /^spec\.\w+/.exec(message) ?? []
    const verdict: DryRunVerdict = {
      kind: 'rejected',
      reason: 'ConfigInvalid',
      message,
      causes: [{ field, message }],
    }
    return { key, verdict, advice: [], ineffective: [], missingReferences: [], changes: [], isDeletion: false }
  }

  /** Resources of a wave depend on those of earlier waves only. */
  #waves(): readonly (readonly ResourceKey[])[] {
    const keysOf = (resources: readonly Resource[]) => resources.map(resourceKeyOf)
    return RESOURCE_KINDS.flatMap((kind) =>
      kind === 'Subject'
        ? subjectsByDepth(this.#cluster.list('Subject')).map(keysOf)
        : [keysOf(this.#cluster.list(kind) as readonly Resource[])],
    )
  }

  async #applyOne<K extends ResourceKind>(key: ResourceKey<K>): Promise<SimulatedResource> {
    const changes: RuntimeChange[] = []
    const resource = this.#cluster.get(key) as Resource<K>
    if (isConnector(resource)) await this.#assumeSecretValues(resource)
    const reconciler = this.#reconcilers((change) => changes.push(change))[resource.kind] as unknown as Reconciler<K>
    const verdict = await dryRunVerdict(reconciler, resource)
    const applied = verdict.kind === 'accepted' ? await this.#reconcile(resource, reconciler, changes) : verdict
    const missingReferences = subjectsNamedBy(resource).filter((referent) => !this.#isDeclared(resource, referent))
    const ineffective = verdict.kind === 'accepted' ? (verdict.warnings ?? []) : []
    return {
      key,
      verdict: applied,
      advice: usageWarnings(resource),
      ineffective,
      missingReferences,
      changes,
      isDeletion: false,
    }
  }

  /** The values of Secrets are unknown here: the settings of an existing connector that have them count as unchanged. */
  async #assumeSecretValues(resource: Resource<'Connector'>): Promise<void> {
    const { spec, metadata } = resource
    const settings = (spec.valuesFrom ?? []).filter(({ resolve }) => resolve === 'Operator')
    if (settings.length === 0) return
    const config = await this.#configOnWorker(resource)
    for (const { key, secretKeyRef } of settings) {
      const value = config[key]
      if (secretKeyRef === undefined || value === undefined) continue
      this.#cluster.assumeSecretValue(metadata.namespace, secretKeyRef, value)
    }
  }

  /** Empty where the worker has no such connector or cannot be read: then the dry run reports the reason. */
  async #configOnWorker(resource: Resource<'Connector'>): Promise<Readonly<Record<string, string>>> {
    try {
      const { client, runtimeConfig } = this.#runtimes(() => undefined).worker(resource)
      return (await client.get(resolveConnectorName(runtimeConfig, resource))).config
    } catch {
      return {}
    }
  }

  #isDeclared({ metadata: { namespace } }: Resource, subject: string): boolean {
    return this.#cluster.get(resourceKey('Subject', namespace, subject)) !== undefined
  }

  async #delete<K extends ResourceKind>(key: ResourceKey<K>): Promise<SimulatedResource> {
    const changes: RuntimeChange[] = []
    const known = this.#cluster.get(key) as Resource<K>
    const deletionTimestamp = new Date(this.#options.clock.nowMs()).toISOString()
    const resource = { ...known, metadata: { ...known.metadata, deletionTimestamp } } as Resource<K>
    const reconciler = this.#reconcilers((change) => changes.push(change))[resource.kind] as unknown as Reconciler<K>
    const isCleanedUp = !reconciler.needsFinalizer(resource)
    const verdict: DryRunVerdict = isCleanedUp
      ? { kind: 'accepted' }
      : await this.#reconcile(resource, reconciler, changes)
    this.#cluster.drop(key)
    return { key, verdict, advice: [], ineffective: [], missingReferences: [], changes, isDeletion: true }
  }

  /** Reconciles until nothing changes, and puts the resource with its status into the cluster. */
  async #reconcile<K extends ResourceKind>(
    first: Resource<K>,
    reconciler: Reconciler<K>,
    changes: readonly RuntimeChange[],
  ): Promise<DryRunVerdict> {
    let resource = first
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const written = changes.length
      let result: ReconcileResult<K>
      try {
        result = await reconciler.reconcile(resource)
      } catch (error) {
        return verdictOfError(error, reconciler.runtime, resource)
      }
      if (result.removeFinalizer) return { kind: 'accepted' }
      const next = withStatus(resource, result, this.#options.clock.nowMs())
      this.#cluster.put(next)
      if (changes.length === written && isDeepStrictEqual(next.status, resource.status)) return { kind: 'accepted' }
      resource = next
    }
    return { kind: 'undecided', message: `the resource did not settle in ${ROUNDS_MAX} reconciles` }
  }

  /** Reconcilers whose writes are recorded. */
  #reconcilers(record: RecordChange): Reconcilers {
    const { clock, instance } = this.#options
    return createReconcilers({
      cluster: this.#cluster,
      runtimes: this.#runtimes(record),
      clock,
      compatibilityWorker: this.#compatibilityWorker,
      ...(instance !== undefined && { instance }),
    })
  }

  #runtimes(record: RecordChange): Runtimes {
    const { runtimesConfig, operatorNamespace, registry, worker } = this.#options
    const overlayOf = <Overlay>(known: Map<string, Overlay>, name: string, create: () => Overlay): Overlay => {
      const overlay = known.get(name) ?? create()
      known.set(name, overlay)
      return overlay
    }
    return runtimesWithClients(
      runtimesConfig,
      { operatorNamespace, cluster: this.#cluster },
      {
        registry: ({ name }) =>
          overlayOf(this.#registries, name, () => new RegistryOverlay(registry(name))).client(record),
        worker: ({ name }) => overlayOf(this.#workers, name, () => new WorkerOverlay(worker(name))).client(record),
      },
    )
  }
}

function isConnector(resource: Resource): resource is Resource<'Connector'> {
  return resource.kind === 'Connector'
}

function withStatus<K extends ResourceKind>(
  resource: Resource<K>,
  { statusFields, readyCondition }: ReconcileResult<K>,
  nowMs: number,
): Resource<K> {
  const { generation } = resource.metadata
  const conditions = buildConditions(readyCondition, resource.status.conditions, generation, nowMs)
  return { ...resource, status: { ...statusFields, observedGeneration: generation, conditions } } as Resource<K>
}
