import { undefinedIfNotFound } from '../../clients/http-client.ts'
import { OWNER_KEY, type WorkerClient } from '../../clients/worker-client.ts'
import { abandonedEvent } from '../controller/abandon-deletion.ts'
import type { ReconcileResult } from '../controller/reconciler.ts'
import type { Resource } from '../resources/resource.ts'
import type { WorkerRuntime, WorkerRuntimeConfig } from '../runtimes.ts'
import { resolveConnectorName } from './connector-name.ts'
import { STEP_CHECK_MS } from './connector-step.ts'
import { type ExistingConnector, observeConnector } from './observed-connector.ts'

/**
 * Deletes the connector of a resource that is being deleted, one step per call: the finalizer is removed when the
 * worker no longer has the connector. A connector that this resource does not own is left in place.
 */
export async function deleteConnector(
  resource: Resource<'Connector'>,
  { client: worker, runtimeConfig }: WorkerRuntime,
  instance: string,
): Promise<ReconcileResult<'Connector'>> {
  const { spec, status } = resource
  const appliedName = status.configHash === undefined ? undefined : status.connectorName
  const name = appliedName ?? resolveConnectorName(runtimeConfig, resource)
  const { observedGeneration: _, conditions: __, ...statusFields } = status
  const pending: ReconcileResult<'Connector'> = {
    readyCondition: {
      status: 'False',
      reason: 'Deleting',
      message: `deleting connector ${name}`,
      progress: 'reconciling',
    },
    statusFields,
    requeue: { afterMs: STEP_CHECK_MS },
  }
  const done = { ...pending, removeFinalizer: true } as const
  const abandoned = (reason: string) => ({
    ...done,
    events: [abandonedEvent(`connector ${name} is left in place: ${reason}`)],
  })
  if (spec.suspend) return abandoned('spec.suspend is true')
  const observed = await observeConnector(worker, name)
  if (observed === 'absent') return done
  if (!isOwned(resource, observed, runtimeConfig, instance)) return abandoned('it is not managed by this resource')
  if (spec.deletionPolicy === 'DeleteWithOffsets' && !(await deleteOffsets(name, observed, worker))) return pending
  // A deletion whose response was lost may have deleted it: the next call observes that.
  await undefinedIfNotFound(worker.delete(name))
  return pending
}

/** A connector that gets no ownership marker is owned by the resource that applied or adopted it. */
function isOwned(
  { metadata, spec, status }: Resource<'Connector'>,
  { config }: ExistingConnector,
  { writesOwnerMarker }: WorkerRuntimeConfig,
  instance: string,
): boolean {
  const owner = config[OWNER_KEY]
  const mayBeUnmarked = !writesOwnerMarker || spec.adoptionPolicy === 'AdoptIfIdentical'
  if (owner === undefined) return mayBeUnmarked && status.configHash !== undefined
  return owner === `${instance}/${metadata.namespace}/${metadata.name}`
}

/** Stops the connector, then deletes its offsets. Returns false while the connector is not stopped. */
async function deleteOffsets(
  name: string,
  { state, tasks }: ExistingConnector,
  worker: WorkerClient,
): Promise<boolean> {
  if (state !== 'STOPPED') await undefinedIfNotFound(worker.stop(name))
  if (state !== 'STOPPED' || tasks.length > 0) return false
  await undefinedIfNotFound(worker.resetOffsets(name))
  return true
}
