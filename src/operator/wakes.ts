import type { Change, Cluster } from './cluster/cluster.ts'
import { conditionOf } from './resources/condition.ts'
import { type Kind, keyOf, kindOf, type Resource, type ResourceKey } from './resources/resource.ts'

/** What waits for something that only another resource can bring. */
const WAITS_FOR_MODE = new Set(['RegistryReadOnly', 'WaitingForImportMode'])

/** Whom a change concerns: the resource itself when somebody wants something else of it, and those that look to it. */
export function wokenBy(change: Change, cluster: Cluster): readonly ResourceKey[] {
  const kind = kindOf(change.key)
  const others: Resource[] = []
  if (kind === 'Subject') others.push(...referringTo(change.key, cluster))
  if (kind === 'RegistryMode') others.push(...waiting(cluster, 'Subject', (reason) => WAITS_FOR_MODE.has(reason)))
  // Whoever lost a claim may have it now.
  if (change.what === 'gone') others.push(...waiting(cluster, kind, (reason) => reason === 'Conflict'))
  const own = change.what === 'status' ? [] : [change.key]
  return [...own, ...others.map(keyOf).filter((key) => key !== change.key)]
}

function referringTo(key: ResourceKey, cluster: Cluster): readonly Resource[] {
  const [, namespace, name] = key.split('/')
  const same = (resource: Resource) => resource.metadata.namespace === namespace
  return [
    ...cluster
      .list('Subject')
      .filter((other) => same(other) && other.spec.references?.some(({ subjectRef }) => subjectRef?.name === name)),
    ...cluster
      .list('Connector')
      .filter((other) => same(other) && other.spec.subjectRefs?.some((ref) => ref.name === name)),
  ]
}

function waiting(cluster: Cluster, kind: Kind, concerned: (reason: string) => boolean): readonly Resource[] {
  return cluster.list(kind).filter(({ status }) => concerned(conditionOf(status.conditions, 'Ready')?.reason ?? ''))
}
