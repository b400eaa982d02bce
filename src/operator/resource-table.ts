import type { Cluster, ManifestError } from './cluster/cluster.ts'
import { findCondition } from './resources/condition.ts'
import { RESOURCE_KINDS, type Resource, resourceKeyOf } from './resources/resource.ts'
import type { Condition } from './resources/status.ts'

/** One line of what the operator shows: a resource, or a file that holds something it could not read. */
export type ResourceRow = {
  readonly kind: Resource['kind'] | 'File'
  readonly namespace: string
  readonly name: string
  /** What it stands for: a connector class, a subject and its type, a mode. */
  readonly about: string
  readonly ready: Condition['status']
  readonly reason: string
  readonly message: string
  /** It does not get there by itself. */
  readonly isStalled: boolean
  /** `running/total` */
  readonly tasks?: string
  readonly since: string
  readonly resource?: Resource
}

/** Everything in one table, in the order in which it needs each other, and what could not be read. */
export function resourceRows(cluster: Cluster): readonly ResourceRow[] {
  const faults = Map.groupBy(cluster.manifestErrors(), ({ key, file }) => key ?? file)
  const rows = [...RESOURCE_KINDS].flatMap((kind) =>
    [...cluster.list(kind)].sort(byName).map((resource) => {
      const key = resourceKeyOf(resource)
      const own = faults.get(key)
      faults.delete(key)
      return own === undefined ? rowOf(resource) : faultyRow(rowOf(resource), own)
    }),
  )
  return [...rows, ...[...faults.values()].map(fileRow)]
}

/** `file:line:column: what is wrong`, as editors and compilers write it; one after the other. */
function sentenceOf(faults: readonly ManifestError[]): string {
  return faults
    .map(({ file, line, column, message }) => {
      const place = [file, line, column].filter((part) => part !== undefined).join(':')
      return `${place}: ${message}`
    })
    .join('; ')
}

function rowOf(resource: Resource): ResourceRow {
  const { metadata, status } = resource
  const ready = findCondition(status.conditions, 'Ready')
  const current = status.observedGeneration === metadata.generation
  const deleting = metadata.deletionTimestamp !== undefined
  const shown = deleting
    ? { ready: 'False' as const, reason: 'Deleting', message: 'its manifest was deleted' }
    : current && ready !== undefined
      ? { ready: ready.status, reason: ready.reason, message: ready.message }
      : { ready: 'Unknown' as const, reason: 'Pending', message: 'not looked at yet' }
  const tasks = resource.kind === 'Connector' ? resource.status.tasks?.summary : undefined
  return {
    kind: resource.kind,
    namespace: metadata.namespace,
    name: metadata.name,
    about: aboutOf(resource),
    ...shown,
    isStalled: current && findCondition(status.conditions, 'Stalled')?.status === 'True',
    ...(tasks === undefined ? {} : { tasks }),
    since: metadata.creationTimestamp,
    resource,
  }
}

/** The resource is as it last could be read; what stands in the file now is not in force. */
function faultyRow(row: ResourceRow, faults: readonly ManifestError[]): ResourceRow {
  const message = `${sentenceOf(faults)} (what was declared before stays in force)`
  return { ...row, ready: 'False', reason: 'ConfigInvalid', message, isStalled: true }
}

function fileRow(faults: readonly ManifestError[]): ResourceRow {
  const [first] = faults
  const [kind, namespace, name] = first?.key?.split('/') ?? ['File', '', first?.file ?? '']
  return {
    kind: kind as ResourceRow['kind'],
    namespace: namespace ?? '',
    name: name ?? '',
    about: '',
    ready: 'False',
    reason: 'ConfigInvalid',
    message: sentenceOf(faults),
    isStalled: true,
    since: '',
  }
}

function aboutOf(resource: Resource): string {
  switch (resource.kind) {
    case 'Connector':
      return resource.spec.class
    case 'Subject':
      return resource.spec.schemaType
    case 'RegistryMode':
      return resource.spec.mode
  }
}

function byName(a: Resource, b: Resource): number {
  const [left, right] = [resourceKeyOf(a), resourceKeyOf(b)]
  return left < right ? -1 : Number(left > right)
}
