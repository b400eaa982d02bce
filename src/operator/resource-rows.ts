import type { ConditionReason } from '../common/state-glossary.ts'
import type { Cluster, ManifestError } from './cluster/cluster.ts'
import type { Condition } from './resources/common-status.ts'
import { findCondition } from './resources/condition.ts'
import { RESOURCE_KINDS, type Resource, resourceKeyOf } from './resources/resource.ts'

/** One row of the status table: a resource, or a file with something that could not be read. */
export type ResourceRow = {
  readonly kind: Resource['kind'] | 'File'
  readonly namespace: string
  readonly name: string
  /** The connector class, the schema type, or the mode. */
  readonly about: string
  readonly ready: Condition['status']
  readonly reason: string
  readonly message: string
  /** Needs a change by a user. */
  readonly isStalled: boolean
  /** `running/total` */
  readonly tasks?: string
  readonly since: string
  readonly resource?: Resource
}

/** All resources in order of their dependencies, then the files that could not be read. */
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

/** `file:line:column: message`, as compilers print it, joined by semicolons. */
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
    ? { ready: 'False' as const, reason: 'Deleting', message: deletionMessage(ready) }
    : current && ready !== undefined
      ? { ready: ready.status, reason: ready.reason, message: ready.message }
      : { ready: 'Unknown' as const, reason: 'Pending', message: 'not reconciled yet' }
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

/** Also says why the deletion waits, if it failed. */
function deletionMessage(ready: Condition | undefined): string {
  const message = 'its manifest was deleted'
  const isWaiting = ready !== undefined && ready.status !== 'True' && ready.reason !== 'Deleting'
  return isWaiting ? `${message}; the deletion waits: ${ready.reason}: ${ready.message}` : message
}

/** Shows the last valid version of the resource, which stays in force while its manifest is invalid. */
function faultyRow(row: ResourceRow, faults: readonly ManifestError[]): ResourceRow {
  const message = `${sentenceOf(faults)} (the previous version stays in force)`
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

/** What is shown of a resource: the reason why it is not Ready, or in what state it is Ready. */
export function resourceState({ reason, resource, tasks }: ResourceRow): string {
  if (reason !== ('Succeeded' satisfies ConditionReason)) return reason
  switch (resource?.kind) {
    case 'Connector':
      return [resource.status.state, tasks].filter((part) => part !== undefined).join(' ')
    case 'Subject':
      return resource.status.version === undefined ? 'level set' : `version ${resource.status.version}`
    case 'RegistryMode':
      return resource.status.mode ?? reason
    case undefined:
      return reason
  }
}

function aboutOf(resource: Resource): string {
  switch (resource.kind) {
    case 'Connector':
      return resource.spec.class
    case 'Subject':
      return resource.spec.schemaType
    case 'RegistryMode':
      return resource.spec.mode ?? resource.spec.compatibility ?? ''
  }
}

function byName(a: Resource, b: Resource): number {
  const [left, right] = [resourceKeyOf(a), resourceKeyOf(b)]
  return left < right ? -1 : Number(left > right)
}
