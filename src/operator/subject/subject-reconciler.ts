import type { RegistryClient } from '../../clients/registry-client.ts'
import type { Clock } from '../../common/clock.ts'
import type { CompatibilityWorker } from '../../compatibility-worker/compatibility-worker.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { DependencyNotReady, TerminalError, withConditionsOnError } from '../controller/reconcile-error.ts'
import type { ReconcileResult, Reconciler } from '../controller/reconciler.ts'
import { selectOwner } from '../controller/select-owner.ts'
import { assertNamespaceAccess } from '../namespace-access.ts'
import { externalObjectIndex, subjectName } from '../resources/index-values.ts'
import { type Resource, resourceKeyOf } from '../resources/resource.ts'
import type { RegistryRuntime, RegistryRuntimeConfig, Runtimes } from '../runtimes.ts'
import { type DesiredSubject, resolveDesiredSubject } from './desired-subject.ts'
import { executeSubjectSteps } from './execute-subject-steps.ts'
import { pendingImports, registerImports } from './import-versions.ts'
import { assertSchemaValid, type ObservedSubject, observeSubject, type SchemaAccess } from './observed-subject.ts'
import { conditionsForError, planSubject, type SubjectPlan, type SubjectStep } from './plan-subject.ts'
import { deleteSubject } from './subject-deletion.ts'
import { subjectStatusFields, subjectStepEvent } from './subject-result.ts'

export type SubjectReconcilerOptions = {
  readonly cluster: ClusterReader
  readonly runtimes: Pick<Runtimes, 'registry'>
  readonly clock: Clock
  /** Parses and compares large or complex schemas, which would block other resources. */
  readonly compatibilityWorker: Pick<CompatibilityWorker, 'run'>
  /** How often a healthy resource is reconciled; absent: `observeInterval` of its registry. */
  readonly observeIntervalMs?: number
  /** How often a resource is reconciled whose changes are observed; absent: `observeIntervalMs`. */
  readonly healthyResyncMs?: (runtimeConfig: RegistryRuntimeConfig) => number
  /** Whether the last list of a registry did not contain the subject; absent: registries are not listed. */
  readonly isKnownAbsent?: (runtimeConfig: RegistryRuntimeConfig, subject: string) => boolean
}

/** A subject with its desired state, its observed state and what has to be done. */
type PlannedSubject = SubjectPlan & {
  readonly registry: RegistryClient
  readonly runtimeConfig: RegistryRuntimeConfig
  readonly desired: DesiredSubject
  readonly observed: ObservedSubject
}

/** Reconciles Subjects: imports old versions, reads the subject, plans the next steps and executes them. */
export class SubjectReconciler implements Reconciler<'Subject'> {
  readonly kind = 'Subject'
  readonly runtime = 'Registry'
  readonly #options: SubjectReconcilerOptions
  readonly #isKnownAbsent: NonNullable<SubjectReconcilerOptions['isKnownAbsent']>

  constructor(options: SubjectReconcilerOptions) {
    this.#options = options
    this.#isKnownAbsent = options.isKnownAbsent ?? (() => false)
  }

  deletionTimeoutMs(resource: Resource<'Subject'>): number | undefined {
    return this.#options.runtimes.registry(resource).runtimeConfig.deletionTimeoutMs
  }

  readinessGracePeriodMs(resource: Resource<'Subject'>): number {
    return this.#options.runtimes.registry(resource).runtimeConfig.readinessGracePeriodMs
  }

  needsFinalizer({ spec }: Resource<'Subject'>): boolean {
    return spec.deletionPolicy !== 'Retain'
  }

  wasApplied({ status }: Resource<'Subject'>): boolean {
    return status.version !== undefined || status.appliedCompatibility !== undefined
  }

  async dryRun(resource: Resource<'Subject'>): Promise<readonly string[]> {
    const runtime = this.#claim(resource)
    const imports = await pendingImports(resource, runtime.client, this.#options.cluster)
    // The current schema is checked when the imports are done.
    if (imports.length > 0) return []
    const { desired, observed } = await this.#plan(resource, runtime)
    if (desired.schema !== undefined && observed.registered === undefined) {
      await assertSchemaValid(this.#access(runtime.client), desired.subject, desired.schema)
    }
    return []
  }

  async reconcile(resource: Resource<'Subject'>): Promise<ReconcileResult<'Subject'>> {
    const { cluster, runtimes } = this.#options
    if (resource.metadata.deletionTimestamp !== undefined) {
      return deleteSubject(resource, runtimes.registry(resource).client, cluster)
    }
    return withConditionsOnError(conditionsForError, () => this.#createOrUpdate(resource))
  }

  /** The registry of a subject that the resource may manage. Throws `TerminalError` when it may not. */
  #claim(resource: Resource<'Subject'>): RegistryRuntime {
    const { cluster, runtimes } = this.#options
    const runtime = runtimes.registry(resource)
    assertNamespaceAccess(runtime.runtimeConfig, resource.metadata.namespace, subjectName(resource))
    assertOwner(resource, cluster)
    return runtime
  }

  /** `isNew`: the subject is known to be absent and is not read. */
  async #plan(
    resource: Resource<'Subject'>,
    { client: registry, runtimeConfig }: RegistryRuntime,
    isNew = false,
  ): Promise<PlannedSubject> {
    const { cluster, clock, compatibilityWorker } = this.#options
    const desired = await keepRegistered(resource, resolveDesiredSubject(resource, cluster, clock))
    const observed = await observeSubject(registry, desired, {
      compatibilityWorker,
      managesLevel: managesLevel(resource),
      isNew,
    })
    return { registry, runtimeConfig, desired, observed, ...planSubject(resource, desired, observed) }
  }

  async #createOrUpdate(resource: Resource<'Subject'>): Promise<ReconcileResult<'Subject'>> {
    const runtime = this.#claim(resource)
    const imports = await pendingImports(resource, runtime.client, this.#options.cluster)
    if (imports.length > 0) return registerImports(resource, imports, runtime.client)
    return isReadyToCreate(resource) && this.#isKnownAbsent(runtime.runtimeConfig, subjectName(resource))
      ? this.#create(resource, runtime)
      : this.#settle(resource, await this.#plan(resource, runtime))
  }

  /**
   * Registers without a lookup: the registry rejects a schema that is incompatible with a version that exists by now.
   */
  async #create(resource: Resource<'Subject'>, runtime: RegistryRuntime): Promise<ReconcileResult<'Subject'>> {
    const isNew = true
    const created = await this.#settle(resource, await this.#plan(resource, runtime, isNew)).catch((error: unknown) => {
      if (!(error instanceof TerminalError) || error.reason !== 'Incompatible') throw error
      return undefined
    })
    if (created?.statusFields.version === 1) return created
    // The subject existed already: it is read and compared with the declaration.
    const after = { ...resource, status: { ...resource.status, ...created?.statusFields } }
    const result = await this.#settle(after, await this.#plan(after, runtime))
    return { ...result, events: [...(created?.events ?? []), ...(result.events ?? [])] }
  }

  /** Executes the planned steps. */
  async #settle(resource: Resource<'Subject'>, planned: PlannedSubject): Promise<ReconcileResult<'Subject'>> {
    const { registry, desired, steps } = planned
    if (resource.spec.suspend || steps.length === 0) return this.#resultOf(resource, planned, [])
    const observed = await executeSubjectSteps(steps, this.#access(registry), desired, planned.observed)
    // Reports the effect of the steps at once, which saves a status write. The next reconcile checks what is not
    // settled yet.
    const result = this.#resultOf(resource, { ...planned, observed }, steps)
    const after = { ...resource, status: { ...resource.status, ...result.statusFields } }
    const next = planSubject(after, desired, observed)
    if (next.steps.length > 0) return result
    return { ...this.#resultOf(after, { ...planned, ...next, observed }, []), events: result.events ?? [] }
  }

  #access(registry: RegistryClient): SchemaAccess {
    return { registry, compatibilityWorker: this.#options.compatibilityWorker }
  }

  #resultOf(
    resource: Resource<'Subject'>,
    { runtimeConfig, desired, observed, readyCondition }: PlannedSubject,
    executed: readonly SubjectStep[],
  ): ReconcileResult<'Subject'> {
    return {
      readyCondition,
      statusFields: subjectStatusFields(resource, desired, observed, executed, this.#options.clock.nowMs()),
      requeue: { afterMs: executed.length > 0 ? 0 : this.#resyncMs(resource, runtimeConfig) },
      events: executed.map((step) => subjectStepEvent(step, desired, resource)),
    }
  }

  /** Compatibility levels are not part of any list, so a managed level is polled. */
  #resyncMs(resource: Resource<'Subject'>, runtimeConfig: RegistryRuntimeConfig): number {
    const { observeIntervalMs = runtimeConfig.observeIntervalMs, healthyResyncMs = () => observeIntervalMs } =
      this.#options
    return managesLevel(resource) ? observeIntervalMs : healthyResyncMs(runtimeConfig)
  }
}

/**
 * Whether the schema is registered as soon as the subject is found to be absent, and may be registered where it exists.
 */
function isReadyToCreate(resource: Resource<'Subject'>): boolean {
  const { spec, status } = resource
  return status.version === undefined && spec.adoptionPolicy === 'Adopt' && !spec.suspend && !managesLevel(resource)
}

/** Whether a level is declared, or was declared and has to be removed. */
function managesLevel({ spec, status }: Resource<'Subject'>): boolean {
  return spec.compatibility !== undefined || status.appliedCompatibility !== undefined
}

/** When the ConfigMap of a registered schema disappears, the registration stays in force: `InputMissing`. */
async function keepRegistered(
  resource: Resource<'Subject'>,
  desired: Promise<DesiredSubject>,
): Promise<DesiredSubject> {
  try {
    return await desired
  } catch (error) {
    const { version } = resource.status
    const isRegistered = version !== undefined
    if (!(error instanceof DependencyNotReady) || error.reason !== 'WaitingForInput' || !isRegistered) throw error
    throw new TerminalError('InputMissing', `${error.message}; version ${version} stays registered`)
  }
}

/** Of several resources for one subject, one owns it and the others report `Conflict`. */
function assertOwner(resource: Resource<'Subject'>, cluster: ClusterReader): void {
  const claimants = cluster.find(externalObjectIndex(resource))
  const owner = selectOwner(claimants, ({ status }) => status.version !== undefined)
  if (owner === undefined || resourceKeyOf(owner) === resourceKeyOf(resource)) return
  const { namespace, name } = owner.metadata
  const message = `subject ${subjectName(resource)} is managed by Subject ${namespace}/${name}: change spec.subject of one of them`
  throw new TerminalError('Conflict', message)
}
