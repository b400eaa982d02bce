import type { RegistryClient } from '../../clients/registry-client.ts'
import type { Clock } from '../../common/clock.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { ReconcileResult, Reconciler } from '../controller/reconciler.ts'
import { selectOwner } from '../controller/select-owner.ts'
import { assertNamespaceAccess } from '../namespace-access.ts'
import { findCondition } from '../resources/condition.ts'
import { externalObjectIndex, scopeName } from '../resources/index-values.ts'
import { type Resource, resourceKeyOf } from '../resources/resource.ts'
import type { RegistryRuntimeConfig, Runtimes } from '../runtimes.ts'
import { executeRegistryModeStep } from './execute-registry-mode-step.ts'
import { type ObservedMode, observeMode } from './observed-mode.ts'
import { planRegistryMode, type RegistryModePlan, wasWritten } from './plan-registry-mode.ts'
import { registryModeEvents } from './registry-mode-events.ts'
import { restorePrevious } from './restore-previous-mode.ts'

export type RegistryModeReconcilerOptions = {
  readonly cluster: ClusterReader
  readonly runtimes: Pick<Runtimes, 'registry'>
  readonly clock: Clock
  /** How often a healthy resource is reconciled; absent: `observeInterval` of its registry. */
  readonly observeIntervalMs?: number
}

type PlannedMode = {
  readonly registry: RegistryClient
  readonly runtimeConfig: RegistryRuntimeConfig
  readonly observed: ObservedMode
  readonly plan: RegistryModePlan
}

/** Reconciles RegistryModes: reads the mode of the scope, plans the next steps and executes them. */
export class RegistryModeReconciler implements Reconciler<'RegistryMode'> {
  readonly kind = 'RegistryMode'
  readonly runtime = 'Registry'
  readonly #options: RegistryModeReconcilerOptions

  constructor(options: RegistryModeReconcilerOptions) {
    this.#options = options
  }

  deletionTimeoutMs(resource: Resource<'RegistryMode'>): number | undefined {
    return this.#options.runtimes.registry(resource).runtimeConfig.deletionTimeoutMs
  }

  readinessGracePeriodMs(resource: Resource<'RegistryMode'>): number {
    return this.#options.runtimes.registry(resource).runtimeConfig.readinessGracePeriodMs
  }

  needsFinalizer({ spec }: Resource<'RegistryMode'>): boolean {
    return spec.deletionPolicy !== 'Retain'
  }

  wasApplied({ status }: Resource<'RegistryMode'>): boolean {
    return wasWritten(status)
  }

  async dryRun(resource: Resource<'RegistryMode'>): Promise<readonly string[]> {
    await this.#plan(resource)
    return []
  }

  async reconcile(resource: Resource<'RegistryMode'>): Promise<ReconcileResult<'RegistryMode'>> {
    const { metadata, spec, status } = resource
    if (metadata.deletionTimestamp !== undefined) {
      return restorePrevious(resource, this.#options.runtimes.registry(resource).client)
    }
    const { registry, runtimeConfig, observed, plan } = await this.#plan(resource)
    const { observeIntervalMs = runtimeConfig.observeIntervalMs } = this.#options
    const steps = spec.suspend ? [] : plan.steps
    for (const step of steps) await executeRegistryModeStep(step, scopeName(resource), registry)
    const { observedGeneration: _, conditions: __, ...knownFields } = status
    // The plan decides about what is recorded of the mode, and of the applied level.
    const { previousMode: ___, appliedMode: ____, appliedCompatibility: _____, ...otherFields } = knownFields
    return {
      readyCondition: plan.readyCondition,
      statusFields: {
        ...(spec.suspend ? knownFields : { ...otherFields, ...plan.statusFields }),
        registry: spec.registryRef.name,
        scope: scopeName(resource) ?? 'Registry',
        mode: observed.mode,
      },
      requeue: { afterMs: steps.length > 0 ? 0 : Math.max(0, Math.min(plan.afterMs, observeIntervalMs)) },
      events: steps.length > 0 ? registryModeEvents(resource, plan) : [],
    }
  }

  async #plan(resource: Resource<'RegistryMode'>): Promise<PlannedMode> {
    const { cluster, runtimes, clock } = this.#options
    const { client: registry, runtimeConfig } = runtimes.registry(resource)
    assertNamespaceAccess(runtimeConfig, resource.metadata.namespace, scopeName(resource))
    assertOwner(resource, cluster)
    const observed = await observeMode(registry, resource)
    const plan = planRegistryMode(resource, observed, clock.nowMs(), lastImportMs(resource, cluster))
    return { registry, runtimeConfig, observed, plan }
  }
}

/**
 * When the last Subject of this registry and namespace had imported all its versions; undefined while one has not, and
 * without imports.
 */
function lastImportMs({ spec, metadata }: Resource<'RegistryMode'>, cluster: ClusterReader): number | undefined {
  const importing = cluster
    .list('Subject')
    .filter(
      (subject) =>
        subject.spec.imports !== undefined &&
        subject.spec.registryRef.name === spec.registryRef.name &&
        subject.metadata.namespace === metadata.namespace,
    )
  const timesMs = importing.flatMap((subject) => syncedSinceMs(subject) ?? [])
  return timesMs.length < importing.length || timesMs.length === 0
    ? undefined
    : timesMs.reduce((a, b) => Math.max(a, b))
}

/** Since when the current generation is in sync; undefined while it is not. */
function syncedSinceMs({ status, metadata }: Resource<'Subject'>): number | undefined {
  const synced = findCondition(status.conditions, 'Synced')
  const isSynced = synced?.status === 'True' && status.observedGeneration === metadata.generation
  return isSynced ? Date.parse(synced.lastTransitionTime) : undefined
}

/** Of several resources for one scope, one owns its mode and the others report `Conflict`. */
function assertOwner(resource: Resource<'RegistryMode'>, cluster: ClusterReader): void {
  const scope = scopeName(resource)
  const claimants = cluster.find(externalObjectIndex(resource))
  const owner = selectOwner(claimants, ({ status }) => wasWritten(status))
  if (owner === undefined || resourceKeyOf(owner) === resourceKeyOf(resource)) return
  const { namespace, name } = owner.metadata
  throw new TerminalError(
    'Conflict',
    `the mode of ${scope ?? 'the registry'} is managed by RegistryMode ${namespace}/${name}: delete one of them`,
  )
}
