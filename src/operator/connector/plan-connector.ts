import { type ConnectorProperties, OWNER_KEY, type RequestedState } from '../../clients/worker-client.ts'
import { type ConditionReason, type RunState, TRANSIENT_STATES } from '../../common/state-glossary.ts'
import { DependencyNotReady, TerminalError } from '../controller/reconcile-error.ts'
import { annotationOf, requestOf } from '../resources/annotations.ts'
import { isReady } from '../resources/condition.ts'
import type { ConnectorStatus } from '../resources/connector.ts'
import { INITIAL_STATUS, type Resource } from '../resources/resource.ts'
import { assertOwnership } from './adoption.ts'
import { autoRestartWhenHealthy, planAutoRestart } from './auto-restart.ts'
import { changedKeys } from './changed-keys.ts'
import { type ConnectorPlan, type ConnectorStep, type PlanContext, planSteps, STEP_CHECK_MS } from './connector-step.ts'
import type { DesiredConnector } from './desired-connector.ts'
import type { ExistingConnector, ObservedConnector } from './observed-connector.ts'
import { pendingOperation } from './offsets-operation.ts'
import { withSecretRestart } from './secret-restart.ts'

/** How long a connector without tasks counts as starting: Connect creates the tasks a moment after the connector. */
const TASKS_APPEAR_MS = 5_000

const TARGET: Readonly<Record<Resource<'Connector'>['spec']['state'], RequestedState>> = {
  Running: 'RUNNING',
  Paused: 'PAUSED',
  Stopped: 'STOPPED',
}

/**
 * Plans the next steps from the observed to the desired state. Pure. Plans one phase at a time: the effect of a step is
 * observed before the next phase is planned. Throws `TerminalError` and `DependencyNotReady`.
 */
export function planConnector(
  resource: Resource<'Connector'>,
  desired: DesiredConnector,
  observed: ObservedConnector,
  context: PlanContext,
): ConnectorPlan {
  if (observed === 'absent') return planCreation(resource, desired, context)
  assertOwnership(resource, desired, observed)
  return (
    planConfig(resource, desired, observed, context) ??
    planOffsets(resource, desired, observed, context) ??
    planState(resource, observed) ??
    planRequestedRestart(resource) ??
    withSecretRestart(planHealth(resource, observed, context), resource, desired, observed, context)
  )
}

function planCreation(resource: Resource<'Connector'>, desired: DesiredConnector, context: PlanContext): ConnectorPlan {
  const { spec, status } = resource
  if (spec.driftPolicy === 'Report' && status.configHash === desired.configHash) {
    throw new TerminalError('Missing', `connector ${desired.name} was deleted on the worker, and driftPolicy is Report`)
  }
  if (desired.missing.length > 0)
    throw new DependencyNotReady('WaitingForInput', `waiting for ${desired.missing.join(', ')}`)
  if (desired.waitsFor.length > 0)
    throw new DependencyNotReady('WaitingForSubject', `waiting for ${desired.waitsFor.join(', ')}`)
  const isNew = status.observedGeneration === INITIAL_STATUS.observedGeneration
  if (isNew && pendingOperation(resource) !== undefined) {
    // The status is written first: it shows after a crash that this operator created the connector, and the operation
    // is still due.
    return planSteps('Creating', `creating connector ${desired.name}`, [])
  }
  // A connector with a pending offsets operation must not run before the offsets are set.
  const state = pendingOperation(resource) === undefined ? TARGET[spec.state] : 'STOPPED'
  const statusFields = {
    ...applied(resource, desired, context),
    ...handledRestart(resource),
    inputsHash: desired.inputsHash,
  } as ConnectorPlan['statusFields']
  const steps: ConnectorStep[] = [{ do: 'create', config: marked(desired), state }]
  const creating = planSteps('Creating', `creating connector ${desired.name}`, steps, statusFields)
  // Without an ownership marker, only the status shows who created the connector: it must not be deferred.
  return { ...creating, mayDeferStatus: desired.hasOwnerMarker && state === TARGET[spec.state], event: 'Created' }
}

function planConfig(
  resource: Resource<'Connector'>,
  desired: DesiredConnector,
  observed: ExistingConnector,
  context: PlanContext,
): ConnectorPlan | undefined {
  const { spec, status } = resource
  const foundHandled = status.configHash === undefined ? handledBefore(resource) : {}
  if (desired.missing.length > 0) return undefined
  const changed = changedKeys(desired, observed)
  if (changed.length === 0 && hasExpectedMarker(resource, desired, observed)) {
    if (status.configHash === desired.configHash) return undefined
    return planSteps('Progressing', 'the connector already has the declared configuration', [], {
      configHash: desired.configHash,
      ...foundHandled,
    })
  }
  const drifted = status.configHash === desired.configHash && changed.length > 0
  if (drifted && spec.driftPolicy === 'Report') return undefined
  const keys = changed.length === 0 ? 'writing the ownership marker' : `changing ${changed.join(', ')}`
  const statusFields = { ...applied(resource, desired, context), ...foundHandled }
  const event = status.configHash === undefined ? 'Adopted' : drifted ? 'DriftCorrected' : 'Updated'
  return { ...planSteps('Updating', keys, [{ do: 'put-config', config: marked(desired) }], statusFields), event }
}

/**
 * Whether the ownership marker on the worker may stay as it is. A connector that was adopted because it is identical gets
 * the marker only with the next change: the marker alone would restart its tasks.
 */
function hasExpectedMarker(
  { spec }: Resource<'Connector'>,
  desired: DesiredConnector,
  observed: ExistingConnector,
): boolean {
  const owner = observed.config[OWNER_KEY]
  if (owner === undefined && spec.adoptionPolicy === 'AdoptIfIdentical') return true
  return owner === (desired.hasOwnerMarker ? desired.owner : undefined)
}

/**
 * Stops the connector, sets the offsets, records the operation in the status, and only then resumes it. After a crash
 * in between, the same operation is repeated.
 */
function planOffsets(
  resource: Resource<'Connector'>,
  { offsetsToSet }: DesiredConnector,
  observed: ExistingConnector,
  { nowMs }: PlanContext,
): ConnectorPlan | undefined {
  const operation = pendingOperation(resource)
  if (operation === undefined) return undefined
  const message = `offsets operation ${operation.id}`
  if (observed.state !== 'STOPPED') return planSteps('AlteringOffsets', `${message}: stopping first`, [{ do: 'stop' }])
  if (observed.tasks.length > 0) return planSteps('AlteringOffsets', `${message}: waiting for the tasks to stop`, [])
  if ('missing' in offsetsToSet)
    throw new DependencyNotReady('WaitingForInput', `${message}: waiting for ${offsetsToSet.missing}`)
  if ('invalid' in offsetsToSet) throw new TerminalError('OffsetsRejected', `${message}: ${offsetsToSet.invalid}`)
  const { offsets } = offsetsToSet
  const step: ConnectorStep = operation.type === 'Reset' ? { do: 'reset-offsets' } : { do: 'alter-offsets', offsets }
  const done = { lastOperationId: operation.id, lastOperationResult: 'Succeeded' } as const
  const statusFields = {
    offsets: { ...resource.status.offsets, ...done, lastOperationTime: new Date(nowMs).toISOString() },
  }
  const event = operation.type === 'Reset' ? 'OffsetsReset' : 'OffsetsAltered'
  return { ...planSteps('AlteringOffsets', message, [step], statusFields), event }
}

function planState(
  { spec, metadata, status }: Resource<'Connector'>,
  observed: ExistingConnector,
): ConnectorPlan | undefined {
  const { state } = observed
  const target = TARGET[spec.state]
  const isNewlyDeclared = ![INITIAL_STATUS.observedGeneration, metadata.generation].includes(status.observedGeneration)
  // A rebalance hides what was requested before. If that is something else, it shows when the rebalance has ended.
  if (TRANSIENT_STATES.has(state) && !isNewlyDeclared) return undefined
  if (target === 'STOPPED') {
    return state === 'STOPPED' ? undefined : changing('Stopping', 'stopping the connector', 'stop')
  }
  if (target === 'PAUSED') {
    // A failed connector stays FAILED when it is paused. The worker stores the requested state, so it is sent once.
    const asked = state === 'FAILED' && status.observedGeneration === metadata.generation
    return state === 'PAUSED' || asked ? undefined : changing('Pausing', 'pausing the connector', 'pause')
  }
  const away = state === 'PAUSED' || state === 'STOPPED'
  return away ? changing('Resuming', 'resuming the connector', 'resume') : undefined
}

function changing(reason: ConditionReason, message: string, step: 'pause' | 'resume' | 'stop'): ConnectorPlan {
  return { ...planSteps(reason, message, [{ do: step }]), event: 'StateChanged' }
}

function planRequestedRestart(resource: Resource<'Connector'>): ConnectorPlan | undefined {
  const token = requestOf(resource, 'restart')
  if (token === undefined || token === resource.status.lastHandledRestart) return undefined
  const steps = restartSteps(annotationOf(resource, 'weir.dev/restart-scope') ?? 'all')
  const message =
    steps.length === 0
      ? 'weir.dev/restart-scope is invalid: use all, failed, connector or tasks=0,1'
      : 'restarting as requested'
  return { ...planSteps('Restarting', message, steps, { lastHandledRestart: token }), event: 'RestartRequested' }
}

function restartSteps(scope: string): readonly ConnectorStep[] {
  if (scope === 'all') return [{ do: 'restart', onlyFailed: false, includeTasks: true }]
  if (scope === 'failed') return [{ do: 'restart', onlyFailed: true, includeTasks: true }]
  if (scope === 'connector') return [{ do: 'restart', onlyFailed: false, includeTasks: false }]
  const tasks = /^tasks=(\d+(?:,\d+)*)$/.exec(scope)?.[1]?.split(',') ?? []
  return tasks.map((task) => ({ do: 'restart-task', task: Number(task) }))
}

function planHealth(resource: Resource<'Connector'>, observed: ExistingConnector, context: PlanContext): ConnectorPlan {
  const target = TARGET[resource.spec.state]
  const states: readonly RunState[] = [observed.state, ...observed.tasks.map(({ state }) => state)]
  if (states.includes('FAILED') && target !== 'STOPPED') {
    const { restart, restarts, readyCondition, afterMs } = planAutoRestart(
      resource,
      observed,
      context.nowMs,
      context.random,
    )
    return {
      steps: restart ? [{ do: 'restart', onlyFailed: true, includeTasks: true }] : [],
      readyCondition,
      statusFields: { autoRestart: restarts } as ConnectorPlan['statusFields'],
      requeue: { afterMs: Math.min(afterMs ?? context.observeIntervalMs, context.observeIntervalMs) },
      ...(restart && { event: 'AutoRestarted' as const }),
    }
  }
  const waitsFor = unsettled(resource, observed, context.nowMs)
  if (waitsFor !== undefined) {
    const progressing = planSteps('Progressing', waitsFor, [])
    const ageMs = msSinceApplied(resource.status, context.nowMs)
    // A new connector waits for its first assignment. One that ran before may have lost its worker.
    if (ageMs < TASKS_APPEAR_MS && !isReady(resource.status, resource.metadata.generation)) {
      return { ...progressing, mayDeferStatus: true, requeue: { afterMs: Math.max(STEP_CHECK_MS, ageMs) } }
    }
    return { ...progressing, isTransient: states.some((state) => TRANSIENT_STATES.has(state)) }
  }
  if (target === 'RUNNING' && observed.tasks.length === 0 && !observed.hasNoWork) {
    // Kafka Connect reports the same for a connector that is still dividing its work as for one that has none; Weir does not.
    const message = 'the connector is running without tasks: it has not made any yet, or it has nothing to do'
    return { ...planSteps('NoTasks', message, []), requeue: { afterMs: context.observeIntervalMs } }
  }
  return {
    steps: [],
    readyCondition: { status: 'True', reason: 'Succeeded', message: healthy(target, observed) },
    statusFields: { autoRestart: autoRestartWhenHealthy(resource, context.nowMs) } as ConnectorPlan['statusFields'],
    requeue: { afterMs: context.healthyResyncMs },
  }
}

/** What has not reached its target state yet; undefined when everything has. */
function unsettled(
  { spec, status }: Resource<'Connector'>,
  observed: ExistingConnector,
  nowMs: number,
): string | undefined {
  const target = TARGET[spec.state]
  if (observed.state !== target) return `the connector is ${observed.state.toLowerCase()}`
  if (target === 'STOPPED') return observed.tasks.length === 0 ? undefined : 'waiting for the tasks to stop'
  const task = observed.tasks.find(({ state }) => state !== target)
  if (task !== undefined) return `task ${task.id} is ${task.state.toLowerCase()}`
  const justApplied = msSinceApplied(status, nowMs) < TASKS_APPEAR_MS
  return target === 'RUNNING' && observed.tasks.length === 0 && justApplied ? 'waiting for its tasks' : undefined
}

/** Absolute, because the clock may have been set back. */
function msSinceApplied({ lastAppliedTime }: ConnectorStatus, nowMs: number): number {
  return lastAppliedTime === undefined ? Number.POSITIVE_INFINITY : Math.abs(nowMs - Date.parse(lastAppliedTime))
}

function healthy(target: RequestedState, { tasks, hasNoWork }: ExistingConnector): string {
  if (hasNoWork) return 'running without tasks, because the connector generates none: it has nothing to do'
  const count = `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}`
  return target === 'STOPPED' ? 'stopped, as declared' : `${target.toLowerCase()}, ${count}`
}

/**
 * Marks one-time requests as handled for a resource that lost its status, after a restart of an operator on a folder or
 * a restore: the requests were executed before.
 */
function handledBefore(resource: Resource<'Connector'>): ConnectorPlan['statusFields'] {
  const operation = resource.spec.offsets?.operation
  const isNew = resource.status.observedGeneration === INITIAL_STATUS.observedGeneration
  return {
    ...handledRestart(resource),
    ...(operation === undefined || !isNew
      ? {}
      : { offsets: { lastOperationId: operation.id, lastOperationResult: 'Succeeded' } }),
  }
}

function handledRestart(resource: Resource<'Connector'>): ConnectorPlan['statusFields'] {
  const token = requestOf(resource, 'restart')
  return token === undefined ? {} : { lastHandledRestart: token }
}

function applied(
  _: Resource<'Connector'>,
  desired: DesiredConnector,
  { nowMs }: PlanContext,
): ConnectorPlan['statusFields'] {
  return { configHash: desired.configHash, lastAppliedTime: new Date(nowMs).toISOString() }
}

function marked(desired: DesiredConnector): ConnectorProperties {
  return desired.hasOwnerMarker ? { ...desired.config, [OWNER_KEY]: desired.owner } : desired.config
}
