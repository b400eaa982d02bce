import type { Cluster, ResourceChange } from './cluster/cluster.ts'
import { externalObjectIndexFor, readyReasonIndex, referenceIndex, subjectName } from './resources/index-values.ts'
import { kindOfKey, type Resource, type ResourceKey, resourceKeyOf } from './resources/resource.ts'
import type { RuntimeEvent } from './runtime-events.ts'
import type { RuntimeKind } from './runtimes.ts'
import { sortByReferences } from './subject/reference-order.ts'

/** Reasons of Subjects that only a RegistryMode can resolve. */
const WAITS_FOR_MODE = ['RegistryReadOnly', 'WaitingForImportMode'] as const

/**
 * The resources to reconcile after a change of a resource: the resource itself unless only its status changed, and its
 * dependents. `resourcesReferringTo` finds those of a changed ConfigMap or Secret.
 */
export function requestsForChange(change: ResourceChange, cluster: Cluster): readonly ResourceKey[] {
  const kind = kindOfKey(change.key)
  const others: Resource[] = []
  if (kind === 'Subject') others.push(...referringTo(change.key, cluster))
  if (kind === 'RegistryMode') {
    others.push(...WAITS_FOR_MODE.flatMap((reason) => cluster.find(readyReasonIndex('Subject', reason))))
  }
  // A resource that lost a claim may own the object now.
  if (change.type === 'deleted') others.push(...cluster.find(readyReasonIndex(kind, 'Conflict')))
  const own = change.type === 'status' ? [] : [change.key]
  return [...own, ...others.map(resourceKeyOf).filter((key) => key !== change.key)]
}

function referringTo(key: ResourceKey, cluster: Cluster): readonly Resource[] {
  const [, namespace = '', name = ''] = key.split('/')
  return cluster.find(referenceIndex(namespace, name))
}

/**
 * The resources to reconcile after a change in a runtime: those of the changed object, and all below a changed level or
 * mode.
 */
export function requestsForRuntimeEvent(
  event: RuntimeEvent,
  cluster: Pick<Cluster, 'find' | 'list'>,
): readonly ResourceKey[] {
  if ('worker' in event)
    return cluster.find(externalObjectIndexFor('Connector', event.worker, event.connector)).map(resourceKeyOf)
  const { registry, subject } = event
  const isWhole = subject === null || /^:[^:]*:$/.test(subject)
  const isBelow = (resource: Resource<'Subject'>) =>
    resource.spec.registryRef.name === registry && subjectName(resource).startsWith(subject ?? '')
  const subjects = isWhole
    ? cluster.list('Subject').filter(isBelow)
    : cluster.find(externalObjectIndexFor('Subject', registry, subject))
  return [...subjects, ...cluster.find(externalObjectIndexFor('RegistryMode', registry, subject ?? ''))].map(
    resourceKeyOf,
  )
}

/** The resources of a runtime, each after those that it depends on. */
export function requestsForRuntime(
  runtime: RuntimeKind,
  name: string,
  cluster: Pick<Cluster, 'list'>,
): readonly ResourceKey[] {
  const resources: readonly Resource[] =
    runtime === 'worker'
      ? cluster.list('Connector')
      : [...cluster.list('RegistryMode'), ...sortByReferences(cluster.list('Subject'))]
  return resources.filter((resource) => runtimeNameOf(resource) === name).map(resourceKeyOf)
}

/** The name of the runtime that a resource refers to. */
export function runtimeNameOf({ spec }: Resource): string {
  return 'workerRef' in spec ? spec.workerRef.name : spec.registryRef.name
}
