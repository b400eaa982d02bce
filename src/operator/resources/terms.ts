import { conditionOf, type Reason } from './condition.ts'
import type { Kind, Resource } from './resource.ts'

/** Names in the default context have a short form and this one. */
const DEFAULT_CONTEXT = /^:\.:/

/** Something that resources of a kind are looked up by, beside their key. */
export type Term<K extends Kind = Kind> = string & { readonly of: K }

/** Everything that a resource is found by. */
export function termsOf(resource: Resource): readonly Term[] {
  const { namespace } = resource.metadata
  const reason = conditionOf(resource.status.conditions, 'Ready')?.reason
  return [
    claimOf(resource),
    ...subjectsNamedBy(resource).map((name) => referenceTo(namespace, name)),
    ...(reason === undefined ? [] : [readyReason(resource.kind, reason as Reason)]),
  ]
}

/** The thing outside that it stands for: of several with the same one, one may have it. */
export function claimOf<K extends Kind>(resource: Resource<K>): Term<K>
export function claimOf(resource: Resource): Term {
  switch (resource.kind) {
    case 'Connector':
      return claimTo('Connector', resource.spec.workerRef.name, connectorName(resource))
    case 'Subject':
      return claimTo('Subject', resource.spec.registryRef.name, subjectName(resource))
    case 'RegistryMode':
      return claimTo('RegistryMode', resource.spec.registryRef.name, scopeName(resource) ?? '')
  }
}

/** The same, of a thing that a runtime names; the default context and a registry as a whole have the name ''. */
export function claimTo<K extends Kind>(kind: K, runtime: string, name: string): Term<K> {
  return term(kind, runtime, kind === 'Connector' ? name : name.replace(DEFAULT_CONTEXT, ''))
}

/** Resources of this namespace that name that Subject. */
export function referenceTo(namespace: string, subject: string): Term<'Subject' | 'Connector'> {
  return term('refers to', namespace, subject)
}

/** Resources of this kind that are, or are not, Ready for this reason. */
export function readyReason<K extends Kind>(kind: K, reason: Reason): Term<K> {
  return term('ready', kind, reason)
}

export function connectorName({ spec, metadata }: Resource<'Connector'>): string {
  return spec.name ?? metadata.name
}

export function subjectName({ spec, metadata }: Resource<'Subject'>): string {
  return spec.subject ?? metadata.name
}

/** What the registry calls it: nothing for itself, `:.context:`, or the subject. */
export function scopeName({ spec }: Resource<'RegistryMode'>): string | undefined {
  const { type, context, subject } = spec.scope
  return type === 'Context' ? `:${context}:` : type === 'Subject' ? subject : undefined
}

function subjectsNamedBy(resource: Resource): readonly string[] {
  if (resource.kind === 'Connector') return (resource.spec.subjectRefs ?? []).map(({ name }) => name)
  if (resource.kind !== 'Subject') return []
  return (resource.spec.references ?? []).flatMap(({ subjectRef }) => subjectRef?.name ?? [])
}

function term<K extends Kind>(what: string, ...parts: readonly string[]): Term<K> {
  return JSON.stringify([what, ...parts]) as Term<K>
}
