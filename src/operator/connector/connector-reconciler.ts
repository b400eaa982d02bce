import { RequestError } from '../../clients/http.ts'
import { OWNER_KEY, type WorkerClient } from '../../clients/worker.ts'
import type { Clock } from '../../config/clock.ts'
import { secretValuesIn } from '../../config/secret-keys.ts'
import { SecretMasker } from '../../config/secret-masker.ts'
import { matchesWildcard } from '../../regex/wildcard.ts'
import type { ClusterReader, EventReason, ResourceEvent } from '../cluster/cluster.ts'
import { selectOwner } from '../controller/claims.ts'
import type { Requeue } from '../controller/controller.ts'
import { abandonedEvent } from '../controller/finalizer.ts'
import { NotAppliedError, TerminalError, withConditionsOnError } from '../controller/reconcile-error.ts'
import type { ReconcileResult, Reconciler } from '../controller/reconciler.ts'
import type { ConditionReason, ObservedCondition } from '../resources/condition.ts'
import { type Resource, resourceKeyOf } from '../resources/resource.ts'
import { truncate } from '../resources/status.ts'
import type { Runtimes, WorkerRuntime, WorkerRuntimeConfig } from '../runtimes.ts'
import { connectorConditions } from './conditions.ts'
import { type ConnectorPlan, type PlanContext, STEP_CHECK_MS } from './connector-plan.ts'
import { type DesiredConnector, resolveDesiredConnector } from './desired.ts'
import { findClaimants, resolveConnectorName } from './naming.ts'
import { countTasks, type ObservedConnector, observeConnector } from './observed.ts'
import { OFFSETS_KEY, pendingOperation, planOffsetsExport } from './offsets.ts'
import { changedKeys } from './ownership.ts'
import { planConnector } from './plan.ts'
import { assertConfigValid, executeConnectorStep } from './steps.ts'

export type ConnectorReconcilerOptions = {
  readonly cluster: ClusterReader
  readonly runtimes: Pick<Runtimes, 'worker'>
  readonly clock: Clock
  readonly random?: () => number
  /** Part of the ownership marker: the installation that manages a connector. */
  readonly instance: string
  /** Masks secret values in the log; the values of each Connector are added to it. */
  readonly secrets?: SecretMasker
  /** How often a healthy resource is reconciled; absent: `observeInterval` of its worker. */
  readonly observeIntervalMs?: number
  /** How often a Ready resource is reconciled; absent: `observeIntervalMs`. */
  readonly healthyResyncMs?: (runtimeConfig: WorkerRuntimeConfig) => number
  /** Whether the last list of a worker did not contain the connector; absent: workers are not listed. */
  readonly isKnownAbsent?: (runtimeConfig: WorkerRuntimeConfig, connector: string) => boolean
}

type Found = {
  readonly worker: WorkerClient
  readonly runtimeConfig: WorkerRuntimeConfig
  readonly desired: DesiredConnector
  readonly observed: ObservedConnector
  /** Whether no other resource claims the connector. */
  readonly isSoleClaimant: boolean
}

export function createConnectorReconciler(options: ConnectorReconcilerOptions): Reconciler<'Connector'> {
  const {
    cluster,
    runtimes,
    clock,
    random = Math.random,
    instance,
    isKnownAbsent = () => false,
    secrets: logged,
  } = options
  const claim = async (resource: Resource<'Connector'>, secrets: SecretMasker) => {
    const { client: worker, runtimeConfig } = runtimes.worker(resource)
    const name = resolveConnectorName(runtimeConfig, resource)
    assertUnprotected(name, runtimeConfig)
    assertSameName(resource, name, runtimeConfig)
    const desired = await resolveDesiredConnector(resource, cluster, { instance, runtimeConfig })
    const values = [...secretValuesIn(desired.config), ...Object.values(desired.inline).map(({ value }) => value)]
    secrets.add(values)
    const claimants = findClaimants(runtimeConfig, name, cluster)
    assertClaim(resource, claimants, name)
    return { worker, runtimeConfig, desired, values, isSoleClaimant: claimants.length === 1 }
  }
  const look = async (resource: Resource<'Connector'>, secrets: SecretMasker) => {
    const claimed = await claim(resource, secrets)
    return { ...claimed, observed: await observeConnector(claimed.worker, claimed.desired.name) }
  }
  const context = (runtimeConfig: WorkerRuntimeConfig): PlanContext => {
    const { observeIntervalMs = runtimeConfig.observeIntervalMs, healthyResyncMs = () => observeIntervalMs } = options
    return {
      nowMs: clock.nowMs(),
      random: random(),
      observeIntervalMs,
      healthyResyncMs: healthyResyncMs(runtimeConfig),
    }
  }
  const act = async (
    resource: Resource<'Connector'>,
    { worker, runtimeConfig, desired, observed, isSoleClaimant }: Found,
    pass: (done: ConnectorPlan) => ReconcileResult<'Connector'>,
  ): Promise<ReconcileResult<'Connector'>> => {
    const { mayDeferStatus = false, ...planned } = planConnector(resource, desired, observed, context(runtimeConfig))
    if (resource.spec.suspend) return pass(looked(planned))
    for (const step of planned.steps) await executeConnectorStep(step, desired.name, worker)
    // Other claimants must see the owner at once, so the status is not deferred.
    if (mayDeferStatus && isSoleClaimant) return { ...pass(planned), mayDeferStatus }
    return planned.steps.length > 0 || observed === 'absent'
      ? pass(planned)
      : withExport(pass(planned), resource, worker, clock.nowMs())
  }
  return {
    kind: 'Connector',
    runtime: 'Worker',
    deletionTimeoutMs(resource) {
      const { deletionTimeoutMs, terminatingDeletionTimeoutMs = deletionTimeoutMs } =
        runtimes.worker(resource).runtimeConfig
      return cluster.namespace(resource.metadata.namespace)?.isTerminating
        ? terminatingDeletionTimeoutMs
        : deletionTimeoutMs
    },
    readinessGracePeriodMs: (resource) => runtimes.worker(resource).runtimeConfig.readinessGracePeriodMs,
    needsFinalizer: ({ spec }) => spec.deletionPolicy !== 'Retain',
    wasApplied: ({ status }) => status.configHash !== undefined,
    dryRun: (resource) =>
      discreetly(async (secrets) => {
        const { worker, runtimeConfig, desired, observed, values } = await look(resource, secrets)
        logged?.notice(values)
        // Validates also where the creation still has to wait for its inputs.
        if (desired.missing.length === 0) await assertConfigValid(worker, desired.config)
        planConnector(resource, desired, observed, context(runtimeConfig))
      }),
    async reconcile(resource) {
      if (resource.metadata.deletionTimestamp !== undefined) {
        logged?.hold(`Connector ${resourceKeyOf(resource)}`, [])
        return tidyUp(resource, runtimes.worker(resource), instance)
      }
      return discreetly(async (secrets) => {
        const claimed = await claim(resource, secrets)
        const { worker, runtimeConfig, desired, values } = claimed
        logged?.hold(`Connector ${resourceKeyOf(resource)}`, values)
        const { configHash = desired.configHash } = resource.status
        const isApplied = configHash === desired.configHash
        const found = () => orNotApplied(isApplied, () => observeConnector(worker, desired.name))
        const settle = (observed: ObservedConnector) => {
          const isInForce = observed === 'absent' ? isApplied : changedKeys(desired, observed).length === 0
          const pass = (done: ConnectorPlan) => passOf(resource, desired, observed, done, { secrets, runtimeConfig })
          const sides = connectorConditions(resource, desired, observed)
          return withConditionsOnError(
            ({ reason }) => unsynced(sides, reason),
            () => orNotApplied(isInForce, () => act(resource, { ...claimed, observed }, pass)),
          )
        }
        if (!isToBeMade(resource, desired) || !isKnownAbsent(runtimeConfig, desired.name)) {
          return settle(await found())
        }
        // Creates it without a lookup: the worker rejects the creation of a connector that exists by now.
        return settle('absent').catch(async (error: unknown) => {
          const cause = error instanceof NotAppliedError ? error.cause : error
          if (!(cause instanceof RequestError) || cause.status !== 409) throw error
          return settle(await found())
        })
      })
    },
  }
}

/**
 * Turns a retriable error of a worker that does not have the declared configuration into a `NotAppliedError`, so that
 * the resource does not stay Ready during the grace period.
 */
async function orNotApplied<T>(isApplied: boolean, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof RequestError && error.retriable && !isApplied ? new NotAppliedError(error) : error
  }
}

/** Whether the connector is created as soon as it is found to be absent. */
function isToBeMade(resource: Resource<'Connector'>, { missing, waitsFor }: DesiredConnector): boolean {
  const isKept = resource.status.configHash !== undefined || resource.spec.suspend
  return !isKept && missing.length === 0 && waitsFor.length === 0 && pendingOperation(resource) === undefined
}

/**
 * Masks the secrets that `run` learns in its result and in its error: workers repeat values in traces and in error
 * messages, and both end up in conditions and events.
 */
async function discreetly<T>(run: (secrets: SecretMasker) => Promise<T>): Promise<T> {
  const secrets = new SecretMasker()
  try {
    return maskTexts(await run(secrets), secrets) as T
  } catch (error) {
    for (let thrown = error; thrown instanceof Error; thrown = thrown.cause) {
      thrown.message = secrets.mask(thrown.message)
      thrown.stack = secrets.mask(thrown.stack ?? '')
    }
    throw error
  }
}

/** Fields with text for people. Names and hashes are not masked. */
const TEXTS: ReadonlySet<string> = new Set(['message', 'note', 'trace', 'lastRestartReason'])

function maskTexts(data: unknown, secrets: SecretMasker, name = ''): unknown {
  if (typeof data === 'string') return TEXTS.has(name) ? secrets.mask(data) : data
  if (Array.isArray(data)) return data.map((item) => maskTexts(item, secrets, name))
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, maskTexts(value, secrets, key)]))
}

/** Gives a condition Synced=False the reason for which the reconcile ended. */
function unsynced(found: readonly ObservedCondition[], reason: ConditionReason): readonly ObservedCondition[] {
  return found.map((one) => (one.type === 'Synced' && one.status === 'False' ? { ...one, reason } : one))
}

/** The plan of a suspended resource: its steps are not executed. */
function looked({ event: _, ...planned }: ConnectorPlan): ConnectorPlan {
  return { ...planned, steps: [], statusFields: {} }
}

function passOf(
  resource: Resource<'Connector'>,
  desired: DesiredConnector,
  observed: ObservedConnector,
  { readyCondition, statusFields, requeue, event, isTransient = false }: ConnectorPlan,
  { secrets, runtimeConfig }: { readonly secrets: SecretMasker; readonly runtimeConfig: WorkerRuntimeConfig },
): ReconcileResult<'Connector'> {
  const { observedGeneration: _, conditions: __, ...known } = resource.status
  return {
    readyCondition: { ...readyCondition, otherConditions: connectorConditions(resource, desired, observed) },
    statusFields: definedOnly({
      ...known,
      connectorName: desired.name,
      workerCluster: resource.spec.workerRef.name,
      selector: runtimeConfig.podSelector,
      ...factsOf(observed, secrets),
      ...statusFields,
    }),
    requeue,
    isTransient,
    ...(event && { events: [eventOf(event, readyCondition.message, Object.keys(desired.inline))] }),
  }
}

function eventOf(reason: EventReason, message: string, inClear: readonly string[]): ResourceEvent {
  const isSent = inClear.length > 0 && SENDS.has(reason)
  const note = isSent ? `${message}; sent to the worker in clear text: ${inClear.join(', ')}` : message
  return { type: isSent || WARNINGS.has(reason) ? 'Warning' : 'Normal', reason, note }
}

/** Exports the offsets if an export is due; otherwise requeues in time for the next one. */
async function withExport(
  pass: ReconcileResult<'Connector'>,
  resource: Resource<'Connector'>,
  worker: WorkerClient,
  nowMs: number,
): Promise<ReconcileResult<'Connector'>> {
  const due = planOffsetsExport(resource, nowMs)
  if (due === undefined) return pass
  if (due.inMs > 0) return { ...pass, requeue: sooner(pass.requeue, due.inMs) }
  const offsets = await worker.offsets(pass.statusFields.connectorName ?? '')
  const note = `${offsets.length} offsets to ConfigMap ${due.configMap}`
  return {
    ...pass,
    exportedConfigMap: {
      configMap: due.configMap,
      data: { [OFFSETS_KEY]: `${JSON.stringify({ offsets }, null, 2)}\n` },
    },
    statusFields: {
      ...pass.statusFields,
      ...(due.token !== undefined && { lastHandledOffsetsExport: due.token }),
      offsets: { ...pass.statusFields.offsets, lastExportTime: new Date(nowMs).toISOString() },
    },
    events: [...(pass.events ?? []), { type: 'Normal', reason: 'OffsetsExported', note }],
    requeue: { afterMs: STEP_CHECK_MS },
  }
}

function sooner(requeue: Requeue, ms: number): Requeue {
  if (requeue === 'rate-limited') return requeue
  return requeue === 'none' ? { afterMs: ms } : { afterMs: Math.min(requeue.afterMs, ms) }
}

const WARNINGS: ReadonlySet<EventReason> = new Set(['AutoRestarted', 'DriftCorrected'])
/** Steps that send the configuration, and with it the inline values. */
const SENDS: ReadonlySet<EventReason> = new Set(['Created', 'Updated', 'Adopted', 'DriftCorrected'])

function factsOf(observed: ObservedConnector, secrets: SecretMasker) {
  if (observed === 'absent') return { state: undefined, tasks: undefined, failedTasks: undefined }
  const { type, state, workerId, tasks } = observed
  const failed = tasks.filter((task) => task.state === 'FAILED').slice(0, 20)
  return {
    type,
    state,
    workerId,
    tasks: countTasks(tasks),
    failedTasks:
      failed.length === 0
        ? undefined
        : failed.map(({ id, workerId, trace = '' }) => ({
            id,
            workerId,
            trace: truncate(secrets.mask(trace), 2_048),
          })),
  }
}

function definedOnly(statusFields: object): ReconcileResult<'Connector'>['statusFields'] {
  return Object.fromEntries(Object.entries(statusFields).filter(([, value]) => value !== undefined))
}

/** Rejects a changed name: the connector under the old name would continue to run beside the new one. */
function assertSameName({ status }: Resource<'Connector'>, name: string, { name: worker }: WorkerRuntimeConfig): void {
  const { configHash, connectorName: before = name } = status
  if (configHash === undefined || before === name) return
  const message = `worker ${worker}: connector ${before} would be renamed to ${name}: restore nameTemplate and allowExplicitNames, or delete this resource and declare it again`
  throw new TerminalError('ClusterConfigInvalid', message)
}

function assertUnprotected(name: string, { name: worker, protectedNames }: WorkerRuntimeConfig): void {
  const pattern = protectedNames.find((one) => matchesWildcard(one, name))
  if (pattern === undefined) return
  throw new TerminalError(
    'ProtectedName',
    `worker ${worker} protects connectors named ${pattern}: no resource may manage them`,
  )
}

/** Of several resources for one connector, one owns it and the others report `Conflict`. */
function assertClaim(resource: Resource<'Connector'>, claimants: readonly Resource<'Connector'>[], name: string): void {
  const winner = selectOwner(claimants, ({ status }) => status.configHash !== undefined)
  if (winner === undefined || resourceKeyOf(winner) === resourceKeyOf(resource)) return
  const { namespace, name: other } = winner.metadata
  throw new TerminalError(
    'Conflict',
    `connector ${name} is managed by Connector ${namespace}/${other}: change spec.name of one of them`,
  )
}

/** Deletes the connector. One that this resource does not own is left in place. */
async function tidyUp(
  resource: Resource<'Connector'>,
  { client: worker, runtimeConfig }: WorkerRuntime,
  instance: string,
): Promise<ReconcileResult<'Connector'>> {
  const { spec, metadata, status } = resource
  const made = status.configHash === undefined ? undefined : status.connectorName
  const name = made ?? resolveConnectorName(runtimeConfig, resource)
  const { observedGeneration: _, conditions: __, ...statusFields } = status
  const readyCondition = {
    status: 'False',
    reason: 'Deleting',
    message: `deleting connector ${name}`,
    progress: 'reconciling',
  } as const
  const pass: ReconcileResult<'Connector'> = { readyCondition, statusFields, requeue: { afterMs: 250 } }
  if (spec.suspend)
    return {
      ...pass,
      removeFinalizer: true,
      events: [abandonedEvent(`connector ${name} is left in place: spec.suspend is true`)],
    }
  const observed = await observeConnector(worker, name)
  const owner = `${instance}/${metadata.namespace}/${metadata.name}`
  if (observed === 'absent') return { ...pass, removeFinalizer: true }
  const mark = observed.config[OWNER_KEY]
  // Without ownership markers, a connector is owned by the resource that applied it.
  const isOurs =
    mark === owner || (mark === undefined && !runtimeConfig.writesOwnerMarker && status.configHash !== undefined)
  if (!isOurs) {
    return {
      ...pass,
      removeFinalizer: true,
      events: [abandonedEvent(`connector ${name} is left in place: it is not managed by this resource`)],
    }
  }
  if (spec.deletionPolicy === 'DeleteWithOffsets') {
    if (observed.state !== 'STOPPED') {
      await worker.stop(name)
      return pass
    }
    if (observed.tasks.length > 0) return pass
    await worker.resetOffsets(name)
  }
  await worker.delete(name)
  return pass
}
