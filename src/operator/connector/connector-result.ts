import type { SecretMasker } from '../../common/secrets/secret-masker.ts'
import { shownState } from '../../common/state-glossary.ts'
import { truncateText } from '../../common/truncate-text.ts'
import type { EventReason, ResourceEvent } from '../cluster/cluster.ts'
import type { ReconcileResult } from '../controller/reconciler.ts'
import type { Resource } from '../resources/resource.ts'
import type { WorkerRuntimeConfig } from '../runtimes.ts'
import { connectorConditions } from './connector-conditions.ts'
import type { ConnectorPlan } from './connector-step.ts'
import type { DesiredConnector } from './desired-connector.ts'
import { countTasks, type ObservedConnector } from './observed-connector.ts'

const FAILED_TASKS_MAX = 20
const TRACE_CHARACTERS_MAX = 2_048

export type ResultContext = {
  readonly runtimeConfig: WorkerRuntimeConfig
  readonly desired: DesiredConnector
  readonly observed: ObservedConnector
  /** Masks traces before they are truncated. */
  readonly secrets: SecretMasker
}

/** The status, the conditions and the Event that report a plan whose steps were executed. */
export function resultOfPlan(
  resource: Resource<'Connector'>,
  { readyCondition, statusFields, requeue, event, isTransient = false }: ConnectorPlan,
  { runtimeConfig, desired, observed, secrets }: ResultContext,
): ReconcileResult<'Connector'> {
  const { observedGeneration: _, conditions: __, ...previousFields } = resource.status
  return {
    readyCondition: { ...readyCondition, otherConditions: connectorConditions(resource, desired, observed) },
    statusFields: withoutUndefined({
      ...previousFields,
      connectorName: desired.name,
      workerCluster: resource.spec.workerRef.name,
      selector: runtimeConfig.podSelector,
      ...observedFields(observed, secrets),
      ...statusFields,
    }),
    requeue,
    isTransient,
    ...(event && { events: [eventOf(event, readyCondition.message, Object.keys(desired.inline))] }),
  }
}

/** The plan of a suspended resource: its steps are not executed. */
export function withoutSteps({ event: _, ...plan }: ConnectorPlan): ConnectorPlan {
  return { ...plan, steps: [], statusFields: {} }
}

const WARNINGS: ReadonlySet<EventReason> = new Set(['AutoRestarted', 'DriftCorrected'])
/** Events of steps that send the configuration, and with it the inline values. */
const SENDS_CONFIG: ReadonlySet<EventReason> = new Set(['Created', 'Updated', 'Adopted', 'DriftCorrected'])

function eventOf(reason: EventReason, message: string, inlineKeys: readonly string[]): ResourceEvent {
  const sendsSecrets = inlineKeys.length > 0 && SENDS_CONFIG.has(reason)
  const note = sendsSecrets ? `${message}; sent to the worker in clear text: ${inlineKeys.join(', ')}` : message
  return { type: sendsSecrets || WARNINGS.has(reason) ? 'Warning' : 'Normal', reason, note }
}

function observedFields(observed: ObservedConnector, secrets: SecretMasker) {
  if (observed === 'absent') return { state: undefined, tasks: undefined, failedTasks: undefined }
  const { type, workerId, tasks } = observed
  const failed = tasks.filter((task) => task.state === 'FAILED').slice(0, FAILED_TASKS_MAX)
  const failedTasks = failed.map(({ id, workerId, trace = '' }) => ({
    id,
    workerId,
    trace: truncateText(secrets.mask(trace), TRACE_CHARACTERS_MAX, ''),
  }))
  return {
    type,
    state: shownState({ connector: observed, tasks }),
    workerId,
    tasks: countTasks(tasks),
    failedTasks: failedTasks.length === 0 ? undefined : failedTasks,
  }
}

function withoutUndefined(statusFields: object): ReconcileResult<'Connector'>['statusFields'] {
  return Object.fromEntries(Object.entries(statusFields).filter(([, value]) => value !== undefined))
}
