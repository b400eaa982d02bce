import { RequestError, undefinedIfNotFound } from '../../clients/http.ts'
import { type NewSchema, REGISTRY_ERROR, type RegistryClient } from '../../clients/registry.ts'
import type { Clock } from '../../config/clock.ts'
import { unreachable } from '../../config/errors.ts'
import type { ClusterReader, EventReason, ResourceEvent } from '../cluster/cluster.ts'
import { selectOwner } from '../controller/claims.ts'
import { abandonedEvent } from '../controller/finalizer.ts'
import {
  DependencyNotReady,
  type PollInterval,
  TerminalError,
  withConditionsOnError,
} from '../controller/reconcile-error.ts'
import type { ReconcileResult, Reconciler } from '../controller/reconciler.ts'
import { assertNamespaceAccess } from '../namespace-access.ts'
import { findCondition, type ReadyCondition } from '../resources/condition.ts'
import { externalObjectIndex, referenceIndex, subjectName } from '../resources/index-values.ts'
import { type Resource, resourceKeyOf } from '../resources/resource.ts'
import type { RegistryRuntimeConfig, Runtimes } from '../runtimes.ts'
import { type DesiredSubject, resolveDesiredSubject } from './desired.ts'
import { pendingImports, type SchemaImport } from './imports.ts'
import {
  assertSchemaValid,
  effectiveCompatibility,
  type ObservedSubject,
  observeRegistration,
  observeSubject,
  toSchemaError,
} from './observed.ts'
import { conditionsForError, planSubject, type SubjectStep } from './plan.ts'

export type SubjectReconcilerOptions = {
  readonly cluster: ClusterReader
  readonly runtimes: Pick<Runtimes, 'registry'>
  readonly clock: Clock
  /** How often a healthy resource is reconciled; absent: `observeInterval` of its registry. */
  readonly observeIntervalMs?: number
  /** How often a resource is reconciled whose changes are observed; absent: `observeIntervalMs`. */
  readonly healthyResyncMs?: (runtimeConfig: RegistryRuntimeConfig) => number
  /** Whether the last list of a registry did not contain the subject; absent: registries are not listed. */
  readonly isKnownAbsent?: (runtimeConfig: RegistryRuntimeConfig, subject: string) => boolean
}

/** Changes of resources enqueue the resources that wait for them; changes in the registry itself have to be polled. */
const BLOCKED: PollInterval = { firstMs: 5_000, maxMs: 300_000 }
const READ_ONLY: PollInterval = { firstMs: 5_000, maxMs: 60_000 }

export function createSubjectReconciler(options: SubjectReconcilerOptions): Reconciler<'Subject'> {
  const { cluster, runtimes, clock, isKnownAbsent = () => false } = options
  const claim = (resource: Resource<'Subject'>) => {
    const { client: registry, runtimeConfig } = runtimes.registry(resource)
    assertNamespaceAccess(runtimeConfig, resource.metadata.namespace, subjectName(resource))
    assertClaim(resource, cluster)
    return { registry, runtimeConfig }
  }
  const look = async (
    resource: Resource<'Subject'>,
    { registry, runtimeConfig }: ReturnType<typeof claim>,
    isNew = false,
  ) => {
    const desired = await keepingReady(resource, resolveDesiredSubject(resource, cluster, clock))
    const observed = await observeSubject(registry, desired, { managesLevel: managesLevel(resource), isNew })
    return { registry, runtimeConfig, desired, observed, ...planSubject(resource, desired, observed) }
  }
  // Compatibility levels are not part of any list.
  const requeueAfterMs = (resource: Resource<'Subject'>, runtimeConfig: RegistryRuntimeConfig): number => {
    const { observeIntervalMs = runtimeConfig.observeIntervalMs, healthyResyncMs = () => observeIntervalMs } = options
    return managesLevel(resource) ? observeIntervalMs : healthyResyncMs(runtimeConfig)
  }
  const passOf = (
    resource: Resource<'Subject'>,
    { runtimeConfig, desired, observed, readyCondition }: Awaited<ReturnType<typeof look>>,
    taken: readonly SubjectStep[],
  ): ReconcileResult<'Subject'> => ({
    readyCondition,
    statusFields: factsOf(resource, desired, observed, taken, clock.nowMs()),
    requeue: { afterMs: taken.length > 0 ? 0 : requeueAfterMs(resource, runtimeConfig) },
    events: taken.map((step) => eventOf(step, desired, resource)),
  })
  const settle = async (
    resource: Resource<'Subject'>,
    found: Awaited<ReturnType<typeof look>>,
  ): Promise<ReconcileResult<'Subject'>> => {
    const taken = resource.spec.suspend ? [] : found.steps
    if (taken.length === 0) return passOf(resource, found, taken)
    const undo: (() => Promise<void>)[] = []
    let observed = found.observed
    for (const step of taken) observed = { ...observed, ...(await carryOut(step, found, undo)) }
    // Reports the effect of the steps at once, which saves a status write. The next reconcile checks what is not
    // settled yet.
    const pass = passOf(resource, { ...found, observed }, taken)
    const after = { ...resource, status: { ...resource.status, ...pass.statusFields } }
    const next = planSubject(after, found.desired, observed)
    return next.steps.length > 0
      ? pass
      : { ...passOf(after, { ...found, ...next, observed }, []), events: pass.events ?? [] }
  }
  const bringAbout = async (resource: Resource<'Subject'>): Promise<ReconcileResult<'Subject'>> => {
    const claimed = claim(resource)
    const left = await pendingImports(resource, claimed.registry, cluster)
    if (left.length > 0) return importing(resource, left, claimed.registry)
    if (!isToBeMade(resource) || !isKnownAbsent(claimed.runtimeConfig, subjectName(resource))) {
      return settle(resource, await look(resource, claimed))
    }
    // Registers without a lookup: the registry rejects a schema that is incompatible with a version that exists by now.
    const isNew = true
    const made = await settle(resource, await look(resource, claimed, isNew)).catch((error: unknown) => {
      if (!(error instanceof TerminalError) || error.reason !== 'Incompatible') throw error
      return undefined
    })
    if (made?.statusFields.version === 1) return made
    const after = { ...resource, status: { ...resource.status, ...made?.statusFields } }
    const pass = await settle(after, await look(after, claimed))
    return { ...pass, events: [...(made?.events ?? []), ...(pass.events ?? [])] }
  }
  return {
    kind: 'Subject',
    runtime: 'Registry',
    deletionTimeoutMs: (resource) => runtimes.registry(resource).runtimeConfig.deletionTimeoutMs,
    readinessGracePeriodMs: (resource) => runtimes.registry(resource).runtimeConfig.readinessGracePeriodMs,
    needsFinalizer: ({ spec }) => spec.deletionPolicy !== 'Retain',
    wasApplied: ({ status }) => status.version !== undefined || status.appliedCompatibility !== undefined,
    async dryRun(resource) {
      const claimed = claim(resource)
      const left = await pendingImports(resource, claimed.registry, cluster)
      // The current schema is checked when the imports are done.
      if (left.length > 0) return
      const { desired, observed } = await look(resource, claimed)
      if (desired.schema !== undefined && observed.registered === undefined) {
        await assertSchemaValid(claimed.registry, desired.schema)
      }
    },
    async reconcile(resource) {
      if (resource.metadata.deletionTimestamp !== undefined) {
        return tidyUp(resource, runtimes.registry(resource).client, cluster)
      }
      return withConditionsOnError(conditionsForError, () => bringAbout(resource))
    },
  }
}

/**
 * Whether the schema is registered as soon as the subject is found to be absent, and may be registered where it exists.
 */
function isToBeMade(resource: Resource<'Subject'>): boolean {
  const { spec, status } = resource
  return status.version === undefined && spec.adoptionPolicy === 'Adopt' && !spec.suspend && !managesLevel(resource)
}

/** Registers the remaining imports, oldest first. The current schema follows in the next reconcile. */
async function importing(
  resource: Resource<'Subject'>,
  left: readonly SchemaImport[],
  registry: RegistryClient,
): Promise<ReconcileResult<'Subject'>> {
  const { observedGeneration: _, conditions: __, ...known } = resource.status
  const subject = subjectName(resource)
  const count = resource.spec.imports?.length ?? 0
  const message = `importing ${left.length} of ${count} versions of ${subject}`
  const readyCondition: ReadyCondition = { status: 'False', reason: 'Registering', message, progress: 'reconciling' }
  if (resource.spec.suspend) return { readyCondition, statusFields: known, requeue: 'none' }
  for (const one of left) {
    await registry.register(subject, one).catch((error: unknown) => refusedImport(error, subject, one, registry))
  }
  const note = `imported versions ${left.map(({ version }) => version).join(', ')} of ${subject}`
  const events: readonly ResourceEvent[] = [{ type: 'Normal', reason: 'Registered', note }]
  return { readyCondition, statusFields: { ...known, imported: count }, requeue: { afterMs: 0 }, events }
}

/** The registry returns the same error code for a mode without imports and for an id that belongs to another schema. */
async function refusedImport(
  error: unknown,
  subject: string,
  { id, version }: SchemaImport,
  registry: RegistryClient,
): Promise<never> {
  const isNotPermitted = error instanceof RequestError && error.errorCode === REGISTRY_ERROR.operationNotPermitted
  if (!isNotPermitted) throw toSchemaError(error)
  if ((await undefinedIfNotFound(registry.byId(id, subject))) === undefined) throw readOnly(error)
  const message = `id ${id}, declared for version ${version} of ${subject}, is the id of another schema in its context`
  throw new TerminalError('ImportConflict', message)
}

/** Whether a level is declared, or was declared and has to be removed. */
function managesLevel({ spec, status }: Resource<'Subject'>): boolean {
  return spec.compatibility !== undefined || status.appliedCompatibility !== undefined
}

/** When the ConfigMap of a registered schema disappears, the registration stays and the resource stays Ready. */
async function keepingReady(resource: Resource<'Subject'>, desired: Promise<DesiredSubject>): Promise<DesiredSubject> {
  try {
    return await desired
  } catch (error) {
    const { conditions, version } = resource.status
    const wasReady = findCondition(conditions, 'Ready')?.status === 'True' && version !== undefined
    if (!(error instanceof DependencyNotReady) || error.reason !== 'WaitingForInput' || !wasReady) throw error
    throw new TerminalError('InputMissing', `${error.message}; version ${version} stays registered`)
  }
}

type Found = { readonly desired: DesiredSubject; readonly observed: ObservedSubject; readonly registry: RegistryClient }

/** Executes a step. Returns the part of the observed state that it changed. */
async function carryOut(
  step: SubjectStep,
  { desired, observed, registry }: Found,
  undo: (() => Promise<void>)[],
): Promise<Partial<ObservedSubject>> {
  const { subject } = desired
  switch (step.do) {
    case 'put-level': {
      const { level } = observed
      await orReadOnly(registry.putConfig({ compatibility: step.level }, subject))
      undo.push(() =>
        level === undefined ? registry.deleteConfig(subject) : registry.putConfig({ compatibility: level }, subject),
      )
      return { level: step.level, effectiveLevel: step.level }
    }
    case 'delete-level':
      await orReadOnly(registry.deleteConfig(subject))
      return { level: undefined, effectiveLevel: await effectiveCompatibility(registry, subject) }
    case 'register':
      try {
        const registered = await orReadOnly(registry.register(subject, step.schema, { normalize: step.normalize }))
        return await observeRegistration(registry, desired, observed, registered)
      } catch (error) {
        // The registry rejected the schema: the level that was set for it is restored.
        if (error instanceof RequestError && !error.retriable) for (const back of undo) await back()
        throw await refusalOf(error, step.schema, registry)
      }
    default:
      return unreachable(step)
  }
}

/** Distinguishes a missing reference from an invalid schema. */
async function refusalOf(error: unknown, schema: NewSchema, registry: RegistryClient): Promise<unknown> {
  if (error instanceof RequestError && error.status === 409) return new TerminalError('Incompatible', error.message)
  const refused = toSchemaError(error)
  if (refused instanceof TerminalError) await assertSchemaValid(registry, schema)
  return refused
}

function eventOf(
  step: SubjectStep,
  { subject }: DesiredSubject,
  { status, metadata }: Resource<'Subject'>,
): ResourceEvent {
  const isDrift = status.observedGeneration === metadata.generation
  const told = (reason: EventReason, note: string): ResourceEvent => ({ type: 'Normal', reason, note })
  const corrected = (was: unknown, reason: EventReason) => (isDrift && was !== undefined ? 'DriftCorrected' : reason)
  switch (step.do) {
    case 'put-level':
      return told(corrected(status.appliedCompatibility, 'CompatibilityChanged'), `level ${step.level} of ${subject}`)
    case 'delete-level':
      return told('CompatibilityReverted', `the level of ${subject} is the registry's again`)
    case 'register':
      return told(corrected(status.version, 'Registered'), `registered in ${subject}`)
    default:
      return unreachable(step)
  }
}

async function orReadOnly<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof RequestError) || error.errorCode !== REGISTRY_ERROR.operationNotPermitted) throw error
    throw readOnly(error)
  }
}

function readOnly({ message }: RequestError): DependencyNotReady {
  return new DependencyNotReady('RegistryReadOnly', `the registry accepts no changes now: ${message}`, {
    pollInterval: READ_ONLY,
  })
}

function factsOf(
  { status, spec }: Resource<'Subject'>,
  desired: DesiredSubject,
  observed: ObservedSubject,
  taken: readonly SubjectStep[],
  nowMs: number,
): ReconcileResult<'Subject'>['statusFields'] {
  const { observedGeneration: _, conditions: __, appliedCompatibility, ...known } = status
  const reverted = taken.some((step) => step.do === 'delete-level') || spec.compatibility === undefined
  const put = taken.find((step) => step.do === 'put-level')
  // A level that matches the declaration counts as applied: this operator may have set it before a crash.
  const asDeclared = observed.level === spec.compatibility ? observed.level : appliedCompatibility
  const level = reverted ? undefined : (put?.level ?? asDeclared)
  const latestVersion = observed.versions.at(-1)
  return {
    ...known,
    subject: desired.subject,
    registry: spec.registryRef.name,
    ...observed.registered,
    versions: observed.versions.slice(-1_000),
    ...(latestVersion === undefined ? {} : { latestVersion }),
    compatibility: put?.level ?? observed.effectiveLevel,
    ...(level === undefined ? {} : { appliedCompatibility: level }),
    ...(spec.imports === undefined ? {} : { imported: spec.imports.length }),
    ...(desired.schema?.references === undefined ? {} : { resolvedReferences: desired.schema.references }),
    ...(taken.some((step) => step.do === 'register') ? { lastRegisteredTime: new Date(nowMs).toISOString() } : {}),
  }
}

/** Of several resources for one subject, one owns it and the others report `Conflict`. */
function assertClaim(resource: Resource<'Subject'>, cluster: ClusterReader): void {
  const claimants = claimantsOf(resource, cluster)
  const winner = selectOwner(claimants, ({ status }) => status.version !== undefined)
  if (winner === undefined || resourceKeyOf(winner) === resourceKeyOf(resource)) return
  const { namespace, name } = winner.metadata
  const message = `subject ${subjectName(resource)} is managed by Subject ${namespace}/${name}: change spec.subject of one of them`
  throw new TerminalError('Conflict', message)
}

function claimantsOf(resource: Resource<'Subject'>, cluster: ClusterReader): readonly Resource<'Subject'>[] {
  return cluster.find(externalObjectIndex(resource))
}

/** Deletes the subject. One that this resource never wrote, or that another resource declares too, is left in place. */
async function tidyUp(
  resource: Resource<'Subject'>,
  registry: RegistryClient,
  cluster: ClusterReader,
): Promise<ReconcileResult<'Subject'>> {
  const { spec, status, metadata } = resource
  const { observedGeneration: _, conditions: __, ...statusFields } = status
  const subject = subjectName(resource)
  const deleting = {
    status: 'False',
    reason: 'Deleting',
    message: `deleting subject ${subject}`,
    progress: 'reconciling',
  } as const
  const pass: ReconcileResult<'Subject'> = { readyCondition: deleting, statusFields, requeue: { afterMs: 250 } }
  const neverOurs = status.version === undefined && status.appliedCompatibility === undefined
  if (spec.suspend || neverOurs || claimantsOf(resource, cluster).length > 1) {
    return { ...pass, removeFinalizer: true, events: [abandonedEvent(`subject ${subject} is left in place`)] }
  }
  const dependent = cluster
    .find(referenceIndex(metadata.namespace, metadata.name))
    .find((other) => other.kind === 'Subject' && other.metadata.deletionTimestamp === undefined)
  if (dependent !== undefined) {
    throw new DependencyNotReady('DeletionBlocked', `Subject ${dependent.metadata.name} references it`, {
      pollInterval: BLOCKED,
    })
  }
  await orBlocked(registry.deleteSubject(subject))
  if (spec.deletionPolicy === 'HardDelete') {
    await orBlocked(registry.deleteSubject(subject, { permanent: true }))
    if (status.appliedCompatibility !== undefined) await orBlocked(registry.deleteConfig(subject))
  }
  return { ...pass, removeFinalizer: true }
}

async function orBlocked(asked: Promise<unknown>): Promise<void> {
  try {
    await asked
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    if (error.status === 404) return
    const blocked =
      error.errorCode === REGISTRY_ERROR.referenceExists || error.errorCode === REGISTRY_ERROR.operationNotPermitted
    if (!blocked) throw error
    throw new DependencyNotReady('DeletionBlocked', error.message, { pollInterval: BLOCKED })
  }
}
