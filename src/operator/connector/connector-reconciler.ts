import { RequestError } from '../../clients/http-client.ts'
import type { Clock } from '../../common/clock.ts'
import type { SecretMasker } from '../../common/secrets/secret-masker.ts'
import type { ConditionReason } from '../../common/state-glossary.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { NotAppliedError, withConditionsOnError } from '../controller/reconcile-error.ts'
import type { ReconcileResult, Reconciler } from '../controller/reconciler.ts'
import type { ObservedCondition } from '../resources/condition.ts'
import { type Resource, resourceKeyOf } from '../resources/resource.ts'
import type { Runtimes, WorkerRuntimeConfig } from '../runtimes.ts'
import { changedKeys } from './changed-keys.ts'
import { type ClaimedConnector, claimConnector } from './claim-connector.ts'
import { connectorConditions } from './connector-conditions.ts'
import { deleteConnector } from './connector-deletion.ts'
import { resultOfPlan, withoutSteps } from './connector-result.ts'
import type { PlanContext } from './connector-step.ts'
import type { DesiredConnector } from './desired-connector.ts'
import { assertConfigValid, executeConnectorStep } from './execute-connector-step.ts'
import { withSecretsMasked } from './masked-secrets.ts'
import { type ObservedConnector, observeConnector } from './observed-connector.ts'
import { withOffsetsExport } from './offsets-export.ts'
import { pendingOperation } from './offsets-operation.ts'
import { planConnector } from './plan-connector.ts'

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

/** Reconciles Connectors: claims the connector, reads its state, plans the next steps and executes them. */
export class ConnectorReconciler implements Reconciler<'Connector'> {
  readonly kind = 'Connector'
  readonly runtime = 'Worker'
  readonly #options: ConnectorReconcilerOptions
  readonly #random: () => number
  readonly #isKnownAbsent: NonNullable<ConnectorReconcilerOptions['isKnownAbsent']>

  constructor(options: ConnectorReconcilerOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
    this.#isKnownAbsent = options.isKnownAbsent ?? (() => false)
  }

  deletionTimeoutMs(resource: Resource<'Connector'>): number | undefined {
    const { cluster, runtimes } = this.#options
    const { deletionTimeoutMs, terminatingDeletionTimeoutMs = deletionTimeoutMs } =
      runtimes.worker(resource).runtimeConfig
    const isTerminating = cluster.namespace(resource.metadata.namespace)?.isTerminating
    return isTerminating ? terminatingDeletionTimeoutMs : deletionTimeoutMs
  }

  readinessGracePeriodMs(resource: Resource<'Connector'>): number {
    return this.#options.runtimes.worker(resource).runtimeConfig.readinessGracePeriodMs
  }

  needsFinalizer({ spec }: Resource<'Connector'>): boolean {
    return spec.deletionPolicy !== 'Retain'
  }

  wasApplied({ status }: Resource<'Connector'>): boolean {
    return status.configHash !== undefined
  }

  dryRun(resource: Resource<'Connector'>): Promise<readonly string[]> {
    return withSecretsMasked(async (secrets) => {
      const { worker, runtimeConfig, desired, secretValues } = await this.#claim(resource, secrets)
      const observed = await observeConnector(worker, desired.name)
      this.#options.secrets?.notice(secretValues)
      // Also validated while the creation has to wait for its inputs.
      const { observeIntervalMs } = this.#planContext(runtimeConfig)
      const isComplete = desired.missing.length === 0
      const warnings = isComplete ? await assertConfigValid({ worker, observeIntervalMs }, desired.config) : []
      planConnector(resource, desired, observed, this.#planContext(runtimeConfig))
      return warnings
    })
  }

  async reconcile(resource: Resource<'Connector'>): Promise<ReconcileResult<'Connector'>> {
    const { runtimes, instance } = this.#options
    if (resource.metadata.deletionTimestamp !== undefined) {
      this.#holdSecrets(resource, [])
      return deleteConnector(resource, runtimes.worker(resource), instance)
    }
    return withSecretsMasked(async (secrets) => {
      const claimed = await this.#claim(resource, secrets)
      this.#holdSecrets(resource, claimed.secretValues)
      return this.#createOrUpdate(resource, claimed, secrets)
    })
  }

  #claim(resource: Resource<'Connector'>, secrets: SecretMasker): Promise<ClaimedConnector> {
    const { cluster, runtimes, instance } = this.#options
    return claimConnector(resource, {
      cluster,
      runtimes,
      instance,
      onSecretValues: (values) => secrets.add(values),
    })
  }

  /** Masks these values in the log for as long as the resource has them. */
  #holdSecrets(resource: Resource<'Connector'>, values: readonly string[]): void {
    this.#options.secrets?.hold(`Connector ${resourceKeyOf(resource)}`, values)
  }

  async #createOrUpdate(
    resource: Resource<'Connector'>,
    claimed: ClaimedConnector,
    secrets: SecretMasker,
  ): Promise<ReconcileResult<'Connector'>> {
    const { worker, runtimeConfig, desired } = claimed
    const observe = () =>
      withNotAppliedError(isLastApplied(resource, desired), () => observeConnector(worker, desired.name))
    const settle = (observed: ObservedConnector) => this.#settle(resource, claimed, observed, secrets)
    if (!isReadyToCreate(resource, desired) || !this.#isKnownAbsent(runtimeConfig, desired.name)) {
      return settle(await observe())
    }
    // Creates it without a lookup: the worker rejects the creation if the connector exists by now.
    try {
      return await settle('absent')
    } catch (error) {
      const cause = error instanceof NotAppliedError ? error.cause : error
      if (!(cause instanceof RequestError) || cause.status !== 409) throw error
      return settle(await observe())
    }
  }

  /** Plans and executes the next steps. An error carries the conditions that were observed before it. */
  #settle(
    resource: Resource<'Connector'>,
    claimed: ClaimedConnector,
    observed: ObservedConnector,
    secrets: SecretMasker,
  ): Promise<ReconcileResult<'Connector'>> {
    const { desired } = claimed
    const isApplied =
      observed === 'absent' ? isLastApplied(resource, desired) : changedKeys(desired, observed).length === 0
    const conditions = connectorConditions(resource, desired, observed)
    return withConditionsOnError(
      ({ reason }) => withSyncedReason(conditions, reason),
      () => withNotAppliedError(isApplied, () => this.#execute(resource, claimed, observed, secrets)),
    )
  }

  async #execute(
    resource: Resource<'Connector'>,
    { worker, runtimeConfig, desired, isSoleClaimant }: ClaimedConnector,
    observed: ObservedConnector,
    secrets: SecretMasker,
  ): Promise<ReconcileResult<'Connector'>> {
    const context = { runtimeConfig, desired, observed, secrets }
    const planContext = this.#planContext(runtimeConfig)
    const { mayDeferStatus = false, ...plan } = planConnector(resource, desired, observed, planContext)
    if (resource.spec.suspend) return resultOfPlan(resource, withoutSteps(plan), context)
    const { observeIntervalMs } = planContext
    for (const step of plan.steps) await executeConnectorStep(step, desired.name, { worker, observeIntervalMs })
    const result = resultOfPlan(resource, plan, context)
    // Other claimants must see the owner at once, so the status is not deferred.
    if (mayDeferStatus && isSoleClaimant) return { ...result, mayDeferStatus }
    if (plan.steps.length > 0 || observed === 'absent') return result
    return withOffsetsExport(result, resource, worker, planContext.nowMs)
  }

  #planContext(runtimeConfig: WorkerRuntimeConfig): PlanContext {
    const {
      clock,
      observeIntervalMs = runtimeConfig.observeIntervalMs,
      healthyResyncMs = () => observeIntervalMs,
    } = this.#options
    return {
      nowMs: clock.nowMs(),
      random: this.#random(),
      observeIntervalMs,
      healthyResyncMs: healthyResyncMs(runtimeConfig),
    }
  }
}

/**
 * Whether the desired configuration is the last one that was applied; a resource without an applied one counts as
 * applied.
 */
function isLastApplied({ status }: Resource<'Connector'>, { configHash }: DesiredConnector): boolean {
  return status.configHash === undefined || status.configHash === configHash
}

/** Whether the connector is created as soon as it is found to be absent. */
function isReadyToCreate(resource: Resource<'Connector'>, { missing, waitsFor }: DesiredConnector): boolean {
  const { status, spec } = resource
  if (status.configHash !== undefined || spec.suspend) return false
  return missing.length === 0 && waitsFor.length === 0 && pendingOperation(resource) === undefined
}

/**
 * Turns a retriable error of a worker that does not have the declared configuration into a `NotAppliedError`, so that
 * the resource does not stay Ready during the grace period.
 */
async function withNotAppliedError<T>(isApplied: boolean, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof RequestError && error.retriable && !isApplied ? new NotAppliedError(error) : error
  }
}

/** Gives a condition Synced=False the reason for which the reconcile ended. */
function withSyncedReason(
  conditions: readonly ObservedCondition[],
  reason: ConditionReason,
): readonly ObservedCondition[] {
  return conditions.map((condition) =>
    condition.type === 'Synced' && condition.status === 'False' ? { ...condition, reason } : condition,
  )
}
