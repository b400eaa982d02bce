import { RequestError } from '../../clients/http-client.ts'
import { REGISTRY_ERROR, type RegistryClient } from '../../clients/registry-client.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { abandonedEvent } from '../controller/abandon-deletion.ts'
import { DependencyNotReady } from '../controller/reconcile-error.ts'
import type { ReconcileResult } from '../controller/reconciler.ts'
import type { PollInterval } from '../controller/requeue-delays.ts'
import { externalObjectIndex, referenceIndex, subjectName } from '../resources/index-values.ts'
import type { Resource } from '../resources/resource.ts'

/** A change of a referring resource enqueues this one; a change in the registry itself has to be polled. */
const BLOCKED: PollInterval = { firstMs: 5_000, maxMs: 300_000 }

/**
 * Deletes the subject of a resource that is being deleted. A subject that this resource never wrote, or that another
 * resource declares too, is left in place.
 */
export async function deleteSubject(
  resource: Resource<'Subject'>,
  registry: RegistryClient,
  cluster: ClusterReader,
): Promise<ReconcileResult<'Subject'>> {
  const { spec, status } = resource
  const { observedGeneration: _, conditions: __, ...statusFields } = status
  const subject = subjectName(resource)
  const done: ReconcileResult<'Subject'> = {
    readyCondition: {
      status: 'False',
      reason: 'Deleting',
      message: `deleting subject ${subject}`,
      progress: 'reconciling',
    },
    statusFields,
    requeue: 'none',
    removeFinalizer: true,
  }
  const kept = reasonToKeep(resource, cluster)
  if (kept !== undefined) return { ...done, events: [abandonedEvent(`subject ${subject} is left in place: ${kept}`)] }
  assertNotReferenced(resource, cluster)
  await executeDeletion(registry.deleteSubject(subject))
  if (spec.deletionPolicy === 'HardDelete') {
    await executeDeletion(registry.deleteSubject(subject, { permanent: true }))
    if (status.appliedCompatibility !== undefined) await executeDeletion(registry.deleteConfig(subject))
  }
  return done
}

/** Why the subject is not deleted together with the resource; undefined: it is deleted. */
function reasonToKeep(resource: Resource<'Subject'>, cluster: ClusterReader): string | undefined {
  const { spec, status } = resource
  if (spec.suspend) return 'spec.suspend is true'
  if (status.version === undefined && status.appliedCompatibility === undefined)
    return 'this resource did not change it'
  return cluster.find(externalObjectIndex(resource)).length > 1 ? 'another Subject also declares it' : undefined
}

function assertNotReferenced({ metadata }: Resource<'Subject'>, cluster: ClusterReader): void {
  const referrer = cluster
    .find(referenceIndex(metadata.namespace, metadata.name))
    .find(({ kind, metadata: { deletionTimestamp } }) => kind === 'Subject' && deletionTimestamp === undefined)
  if (referrer === undefined) return
  throw blockedBy(`Subject ${referrer.metadata.name} references it`)
}

/**
 * Ignores that the object does not exist. Throws `DependencyNotReady` where the registry does not allow the deletion
 * now.
 */
async function executeDeletion(request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    if (error.status === 404) return
    const { referenceExists, operationNotPermitted } = REGISTRY_ERROR
    const isBlocked = error.errorCode === referenceExists || error.errorCode === operationNotPermitted
    throw isBlocked ? blockedBy(error.message) : error
  }
}

function blockedBy(message: string): DependencyNotReady {
  return new DependencyNotReady('DeletionBlocked', message, { pollInterval: BLOCKED })
}
