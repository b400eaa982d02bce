import type { RegisteredReference } from '../../clients/registry-client.ts'
import type { Clock } from '../../common/clock.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { DependencyNotReady, TerminalError } from '../controller/reconcile-error.ts'
import { findCondition } from '../resources/condition.ts'
import { subjectName } from '../resources/index-values.ts'
import { type Resource, resourceKey } from '../resources/resource.ts'
import { findReferenceCycle } from './reference-order.ts'

/** How long a missing Subject is waited for before the resource is `Stalled`, in ms. */
const MISSING_STALLED_MS = 300_000
const MISSING_POLL_MS = 30_000

/**
 * Resolves the references of a Subject to registered versions. Throws `DependencyNotReady` while a referenced Subject is
 * not registered, and `TerminalError` if the references are invalid.
 */
export function resolveSubjectReferences(
  resource: Resource<'Subject'>,
  cluster: ClusterReader,
  clock: Clock,
): readonly RegisteredReference[] {
  assertNoCycle(resource, cluster)
  return (resource.spec.references ?? []).map(({ name, subject, subjectRef, version }) => {
    if (subjectRef === undefined) return { name, subject: subject ?? '', version: version ?? 0 }
    const referent = cluster.get(resourceKey('Subject', resource.metadata.namespace, subjectRef.name))
    if (referent === undefined) return throwMissing(resource, subjectRef.name, clock)
    if (referent.spec.registryRef.name !== resource.spec.registryRef.name) {
      throw new TerminalError(
        'ReferenceInvalid',
        `Subject ${subjectRef.name} belongs to registry ${referent.spec.registryRef.name}`,
      )
    }
    return { name, subject: subjectName(referent), version: version ?? versionOf(referent) }
  })
}

function versionOf(referent: Resource<'Subject'>): number {
  const { version, observedGeneration, conditions } = referent.status
  const ready = findCondition(conditions, 'Ready')?.status === 'True'
  if (ready && version !== undefined && observedGeneration === referent.metadata.generation) return version
  throw new DependencyNotReady('ReferencePending', `waiting for Subject ${referent.metadata.name}`)
}

/** A missing referent may be declared in a moment; after a while the resource reports `Stalled`. */
function throwMissing(resource: Resource<'Subject'>, name: string, clock: Clock): never {
  const waitedMs = clock.nowMs() - Date.parse(resource.metadata.creationTimestamp)
  const message = `there is no Subject ${name} in namespace ${resource.metadata.namespace}`
  if (waitedMs > MISSING_STALLED_MS) throw new TerminalError('ReferenceNotFound', message)
  throw new DependencyNotReady('ReferencePending', message, { requeueAfterMs: MISSING_POLL_MS })
}

/** Throws `TerminalError` for each member of a cycle, with the path of the cycle. */
function assertNoCycle(start: Resource<'Subject'>, cluster: ClusterReader): void {
  const cycle = findReferenceCycle(start, cluster)
  if (cycle !== undefined) throw new TerminalError('ReferenceCycle', `references form a cycle: ${cycle.join(' → ')}`)
}
