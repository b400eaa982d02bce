import type { Change, Cluster } from './cluster/cluster.ts'
import type { News } from './news.ts'
import { keyOf, kindOf, type Resource, type ResourceKey } from './resources/resource.ts'
import { claimTo, readyReason, referenceTo, subjectName } from './resources/terms.ts'

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

/** Whom a change in a runtime concerns: who stands for what changed there, and all below a level or mode. */
export function concernedBy(news: News, cluster: Pick<Cluster, 'find' | 'list'>): readonly ResourceKey[] {
  if ('worker' in news) return cluster.find(claimTo('Connector', news.worker, news.connector)).map(keyOf)
  const { registry, subject } = news
  const isWhole = subject === null || /^:[^:]*:$/.test(subject)
  const isBelow = (resource: Resource<'Subject'>) =>
    resource.spec.registryRef.name === registry && subjectName(resource).startsWith(subject ?? '')
  const subjects = isWhole
    ? cluster.list('Subject').filter(isBelow)
    : cluster.find(claimTo('Subject', registry, subject))
  return [...subjects, ...cluster.find(claimTo('RegistryMode', registry, subject ?? ''))].map(keyOf)
}
