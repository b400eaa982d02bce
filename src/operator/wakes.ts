import type { Change, Cluster } from './cluster/cluster.ts'
import { keyOf, kindOf, type Resource, type ResourceKey } from './resources/resource.ts'
import { readyReason, referenceTo } from './resources/terms.ts'

/** What waits for something that only another resource can bring. */
const WAITS_FOR_MODE = ['RegistryReadOnly', 'WaitingForImportMode'] as const

/** Whom a change concerns: the resource itself when somebody wants something else of it, and those that look to it. */
export function wokenBy(change: Change, cluster: Cluster): readonly ResourceKey[] {
  const kind = kindOf(change.key)
  const others: Resource[] = []
  if (kind === 'Subject') others.push(...referringTo(change.key, cluster))
  if (kind === 'RegistryMode') {
    others.push(...WAITS_FOR_MODE.flatMap((reason) => cluster.find(readyReason('Subject', reason))))
  }
  // Whoever lost a claim may have it now.
  if (change.what === 'gone') others.push(...cluster.find(readyReason(kind, 'Conflict')))
  const own = change.what === 'status' ? [] : [change.key]
  return [...own, ...others.map(keyOf).filter((key) => key !== change.key)]
}

function referringTo(key: ResourceKey, cluster: Cluster): readonly Resource[] {
  const [, namespace = '', name = ''] = key.split('/')
  return cluster.find(referenceTo(namespace, name))
}
