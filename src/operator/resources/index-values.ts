import type { ConditionReason } from '../../common/state-glossary.ts'
import { qualifySubject } from '../../formats/qualified-subject.ts'
import { findCondition } from './condition.ts'
import type { Resource, ResourceKind } from './resource.ts'

/** A value of an index over resources of a kind. */
export type IndexValue<K extends ResourceKind = ResourceKind> = string & { readonly kind: K }

/** All index values of a resource. */
export function indexValuesOf(resource: Resource): readonly IndexValue[] {
  const { namespace } = resource.metadata
  const reason = findCondition(resource.status.conditions, 'Ready')?.reason
  return [
    externalObjectIndex(resource),
    ...subjectsNamedBy(resource).map((name) => referenceIndex(namespace, name)),
    ...(reason === undefined ? [] : [readyReasonIndex(resource.kind, reason as ConditionReason)]),
  ]
}

/** The external object that a resource stands for. Of several resources with the same value, one owns the object. */
export function externalObjectIndex<K extends ResourceKind>(resource: Resource<K>): IndexValue<K>
export function externalObjectIndex(resource: Resource): IndexValue {
  switch (resource.kind) {
    case 'Connector':
      return externalObjectIndexFor('Connector', resource.spec.workerRef.name, connectorName(resource))
    case 'Subject':
      return externalObjectIndexFor('Subject', resource.spec.registryRef.name, subjectName(resource))
    case 'RegistryMode':
      return externalObjectIndexFor('RegistryMode', resource.spec.registryRef.name, scopeName(resource) ?? '')
  }
}

/**
 * The same value, from the name in the runtime; '' names the default context and the registry as a whole. A name in the
 * default context can be written with its context or without it.
 */
export function externalObjectIndexFor<K extends ResourceKind>(kind: K, runtime: string, name: string): IndexValue<K> {
  return term(kind, runtime, kind === 'Connector' ? name : qualifySubject(name))
}

/** Resources of this namespace that refer to that Subject. */
export function referenceIndex(namespace: string, subject: string): IndexValue<'Subject' | 'Connector'> {
  return term('refers to', namespace, subject)
}

/** Resources of this kind whose condition `Ready` has this reason. */
export function readyReasonIndex<K extends ResourceKind>(kind: K, reason: ConditionReason): IndexValue<K> {
  return term('ready', kind, reason)
}

export function connectorName({ spec, metadata }: Resource<'Connector'>): string {
  return spec.name ?? metadata.name
}

export function subjectName({ spec, metadata }: Resource<'Subject'>): string {
  return spec.subject ?? metadata.name
}

/** The scope in the registry's API: undefined for the registry itself, `:.context:`, or the subject. */
export function scopeName({ spec }: Resource<'RegistryMode'>): string | undefined {
  const { type, context, subject } = spec.scope
  return type === 'Context' ? `:${context}:` : type === 'Subject' ? subject : undefined
}

/** Names of the Subjects in its namespace that a resource refers to. */
export function subjectsNamedBy(resource: Resource): readonly string[] {
  if (resource.kind === 'Connector') return (resource.spec.subjectRefs ?? []).map(({ name }) => name)
  if (resource.kind !== 'Subject') return []
  return (resource.spec.references ?? []).flatMap(({ subjectRef }) => subjectRef?.name ?? [])
}

function term<K extends ResourceKind>(what: string, ...parts: readonly string[]): IndexValue<K> {
  return JSON.stringify([what, ...parts]) as IndexValue<K>
}
