import { RequestError, undefinedIfNotFound } from '../../clients/http.ts'
import { REGISTRY_ERROR, type RegistryClient } from '../../clients/registry.ts'
import type { Clock } from '../../config/clock.ts'
import { unreachable } from '../../config/errors.ts'
import type { ClusterReader, EventReason, ResourceEvent } from '../cluster/cluster.ts'
import { selectOwner } from '../controller/claims.ts'
import { TerminalError } from '../controller/reconcile-error.ts'
import type { ReconcileResult, Reconciler } from '../controller/reconciler.ts'
import { assertNamespaceAccess } from '../namespace-access.ts'
import { findCondition } from '../resources/condition.ts'
import { externalObjectIndex, scopeName } from '../resources/index-values.ts'
import { type Resource, resourceKeyOf } from '../resources/resource.ts'
import type { Runtimes } from '../runtimes.ts'
import {
  needsEmptyScope,
  type ObservedMode,
  planRegistryMode,
  type RegistryModePlan,
  type RegistryModeStep,
  restoredLevel,
  restoredMode,
  scopeNotEmpty,
  wasSynced,
} from './plan.ts'

export type RegistryModeReconcilerOptions = {
  readonly cluster: ClusterReader
  readonly runtimes: Pick<Runtimes, 'registry'>
  readonly clock: Clock
  /** How often a healthy resource is reconciled; absent: `observeInterval` of its registry. */
  readonly observeIntervalMs?: number
}

export function createRegistryModeReconciler(options: RegistryModeReconcilerOptions): Reconciler<'RegistryMode'> {
  const { cluster, runtimes, clock } = options
  const look = async (resource: Resource<'RegistryMode'>) => {
    const { client: registry, runtimeConfig } = runtimes.registry(resource)
    assertNamespaceAccess(runtimeConfig, resource.metadata.namespace, scopeName(resource))
    assertClaim(resource, cluster)
    const observed = await observe(registry, resource)
    return {
      registry,
      runtimeConfig,
      observed,
      planned: planRegistryMode(resource, observed, clock.nowMs(), importedMs(resource, cluster)),
    }
  }
  return {
    kind: 'RegistryMode',
    runtime: 'Registry',
    deletionTimeoutMs: (resource) => runtimes.registry(resource).runtimeConfig.deletionTimeoutMs,
    readinessGracePeriodMs: (resource) => runtimes.registry(resource).runtimeConfig.readinessGracePeriodMs,
    needsFinalizer: ({ spec }) => spec.deletionPolicy !== 'Retain',
    wasApplied: ({ status }) => status.previousMode !== undefined,
    dryRun: async (resource) => void (await look(resource)),
    async reconcile(resource) {
      if (resource.metadata.deletionTimestamp !== undefined) {
        return tidyUp(resource, runtimes.registry(resource).client)
      }
      const { registry, runtimeConfig, observed, planned } = await look(resource)
      const { observeIntervalMs = runtimeConfig.observeIntervalMs } = options
      const steps = resource.spec.suspend ? [] : planned.steps
      for (const step of steps) await carryOut(step, scopeName(resource), registry)
      const { observedGeneration: _, conditions: __, appliedCompatibility: ___, ...known } = resource.status
      return {
        readyCondition: planned.readyCondition,
        statusFields: {
          ...known,
          ...(resource.spec.suspend ? {} : planned.statusFields),
          registry: resource.spec.registryRef.name,
          scope: scopeName(resource) ?? 'Registry',
          mode: observed.mode,
        },
        requeue: { afterMs: steps.length > 0 ? 0 : Math.max(0, Math.min(planned.afterMs, observeIntervalMs)) },
        events: steps.length > 0 ? [eventOf(resource, planned), ...overdue(resource, planned)] : [],
      }
    },
  }
}

function eventOf(
  resource: Resource<'RegistryMode'>,
  { steps, readyCondition, statusFields: { window } }: RegistryModePlan,
): ResourceEvent {
  const what = steps.map((step) =>
    'mode' in step ? `mode ${step.mode}` : 'level' in step ? `level ${step.level}` : 'inherited again',
  )
  const note = [
    ...what,
    ...(readyCondition.otherConditions ?? []).filter(({ type }) => type === 'WindowOpen').map(({ message }) => message),
  ].join('; ')
  const told = (reason: EventReason): ResourceEvent => ({ type: 'Normal', reason, note })
  if (
    window !== undefined &&
    (window.id !== resource.status.window?.id || window.phase !== resource.status.window.phase)
  ) {
    return told(window.phase === 'Open' ? 'WindowOpened' : 'WindowClosed')
  }
  const isDrift = wasSynced(resource)
  return told(isDrift ? 'DriftCorrected' : 'ModeChanged')
}

/** A window that closes later than this reports `WindowOverdue`: it stayed open while nothing could close it. */
const OVERDUE_MS = 60_000

function overdue(
  { status }: Resource<'RegistryMode'>,
  { statusFields: { window } }: RegistryModePlan,
): readonly ResourceEvent[] {
  const { phase, closesAt, closedAt } = window ?? {}
  if (phase !== 'Closed' || status.window?.phase === 'Closed' || closesAt === undefined || closedAt === undefined)
    return []
  if (Date.parse(closedAt) - Date.parse(closesAt) < OVERDUE_MS) return []
  const note = `the window was to close at ${closesAt}, when the operator did not run or the registry did not answer`
  return [{ type: 'Warning', reason: 'WindowOverdue', note }]
}

async function observe(registry: RegistryClient, resource: Resource<'RegistryMode'>): Promise<ObservedMode> {
  const scope = scopeName(resource)
  const [ownMode, mode, config] = await Promise.all([
    undefinedIfNotFound(registry.mode(scope)),
    registry.mode(scope, { effective: true }),
    undefinedIfNotFound(registry.config(scope)),
  ])
  const ownLevel = config?.compatibility
  return {
    mode,
    ...(ownMode === undefined ? {} : { ownMode }),
    ...(ownLevel === undefined ? {} : { ownLevel }),
    isEmpty: !needsEmptyScope(resource, ownMode) || (await isEmpty(registry, resource)),
  }
}

/** Whether the scope has no subject that is not deleted. */
async function isEmpty(registry: RegistryClient, { spec }: Resource<'RegistryMode'>): Promise<boolean> {
  const { type, context, subject = '' } = spec.scope
  if (type === 'Subject') return (await undefinedIfNotFound(registry.versions(subject))) === undefined
  // The registry and the default context are the same scope; other contexts are imported separately.
  const subjects = await registry.subjects({ prefix: type === 'Context' ? `:${context}:` : '' })
  return subjects.length === 0
}

async function carryOut(step: RegistryModeStep, scope: string | undefined, registry: RegistryClient): Promise<void> {
  switch (step.do) {
    case 'put-mode':
      return registry.putMode(step.mode, scope, { force: step.force }).catch(refusedMode)
    case 'delete-mode':
      return void (await undefinedIfNotFound(registry.deleteMode(scope)))
    case 'put-level':
      return registry.putConfig({ compatibility: step.level }, scope)
    case 'delete-level':
      return void (await undefinedIfNotFound(registry.deleteConfig(scope)))
    default:
      return unreachable(step)
  }
}

function refusedMode(error: unknown): never {
  if (error instanceof RequestError && error.errorCode === REGISTRY_ERROR.operationNotPermitted) {
    throw scopeNotEmpty(`the registry refuses: ${error.message}`)
  }
  throw error
}

/**
 * When the last Subject of this registry and namespace had imported all its versions; undefined while one has not, and
 * without imports.
 */
function importedMs(resource: Resource<'RegistryMode'>, cluster: ClusterReader): number | undefined {
  const importing = cluster
    .list('Subject')
    .filter(
      ({ spec, metadata }) =>
        spec.imports !== undefined &&
        spec.registryRef.name === resource.spec.registryRef.name &&
        metadata.namespace === resource.metadata.namespace,
    )
  const timesMs = importing.flatMap((subject) => syncedMs(subject) ?? [])
  return timesMs.length < importing.length || timesMs.length === 0
    ? undefined
    : timesMs.reduce((a, b) => Math.max(a, b))
}

/** Since when the current generation is in sync. */
function syncedMs({ status, metadata }: Resource<'Subject'>): number | undefined {
  const synced = findCondition(status.conditions, 'Synced')
  const isSynced = synced?.status === 'True' && status.observedGeneration === metadata.generation
  return isSynced ? Date.parse(synced.lastTransitionTime) : undefined
}

function assertClaim(resource: Resource<'RegistryMode'>, cluster: ClusterReader): void {
  const scope = scopeName(resource)
  const claimants = cluster.find(externalObjectIndex(resource))
  const winner = selectOwner(claimants, ({ status }) => status.previousMode !== undefined)
  if (winner === undefined || resourceKeyOf(winner) === resourceKeyOf(resource)) return
  const { namespace, name } = winner.metadata
  throw new TerminalError(
    'Conflict',
    `the mode of ${scope ?? 'the registry'} is managed by RegistryMode ${namespace}/${name}`,
  )
}

/** Restores the previous mode and level, where they are still what this resource wrote. */
async function tidyUp(
  resource: Resource<'RegistryMode'>,
  registry: RegistryClient,
): Promise<ReconcileResult<'RegistryMode'>> {
  const { spec, status } = resource
  const { observedGeneration: _, conditions: __, ...statusFields } = status
  const readyCondition = {
    status: 'False',
    reason: 'Deleting',
    message: 'restoring the mode',
    progress: 'reconciling',
  } as const
  const pass: ReconcileResult<'RegistryMode'> = {
    readyCondition,
    statusFields,
    requeue: { afterMs: 250 },
    removeFinalizer: true,
  }
  if (spec.suspend || status.previousMode === undefined) return pass
  const observed = await observe(registry, resource)
  const wrote = status.window?.phase === 'Closed' ? spec.window?.then : spec.mode
  const steps: RegistryModeStep[] = []
  if (observed.ownMode === wrote) steps.push(restoredMode(status.previousMode))
  const level = status.appliedCompatibility
  if (level !== undefined && observed.ownLevel === level) steps.push(restoredLevel(status.previousCompatibility))
  for (const step of steps) await carryOut(step, scopeName(resource), registry)
  const note = `restored ${steps.length} settings that still had the values of this resource`
  return { ...pass, events: [{ type: 'Normal', reason: 'ModeRestored', note }] }
}
