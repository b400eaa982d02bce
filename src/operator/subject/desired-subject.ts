import type { CompatibilityLevel, NewSchema, RegisteredReference } from '../../clients/registry-client.ts'
import type { Clock } from '../../common/clock.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { DependencyNotReady, TerminalError } from '../controller/reconcile-error.ts'
import { findCondition } from '../resources/condition.ts'
import { subjectName } from '../resources/index-values.ts'
import { type Resource, resourceKey } from '../resources/resource.ts'
import { findReferenceCycle } from './reference-order.ts'

/** The desired state of a subject, with its references resolved to versions. */
export type DesiredSubject = {
  readonly subject: string
  /** Absent: only the compatibility level is managed. */
  readonly schema?: NewSchema
  readonly normalize: boolean
  readonly compatibility?: CompatibilityLevel
}

const MISSING_STALLED_MS = 300_000
const MISSING_POLL_MS = 30_000

/** Throws `DependencyNotReady` or `TerminalError` when the text or a reference cannot be resolved. */
export async function resolveDesiredSubject(
  resource: Resource<'Subject'>,
  cluster: ClusterReader,
  clock: Clock,
): Promise<DesiredSubject> {
  const { spec } = resource
  const text = await resolveSchemaText(spec, resource.metadata.namespace, cluster)
  const references = text === undefined ? [] : resolve(resource, cluster, clock)
  return {
    subject: subjectName(resource),
    normalize: spec.normalize,
    ...(spec.compatibility === undefined ? {} : { compatibility: spec.compatibility }),
    ...(text === undefined ? {} : { schema: schemaOf(spec, text, references) }),
  }
}

function schemaOf(
  spec: Resource<'Subject'>['spec'],
  schema: string,
  references: readonly RegisteredReference[],
): NewSchema {
  return {
    schema,
    schemaType: spec.schemaType,
    ...(references.length === 0 ? {} : { references }),
    ...(spec.metadata === undefined ? {} : { metadata: spec.metadata }),
    ...(spec.ruleSet === undefined ? {} : { ruleSet: spec.ruleSet }),
  }
}

/** Undefined without a schema. Throws `DependencyNotReady` when its ConfigMap does not exist. */
export async function resolveSchemaText(
  { schema, schemaFrom }: Pick<Resource<'Subject'>['spec'], 'schema' | 'schemaFrom'>,
  namespace: string,
  cluster: ClusterReader,
): Promise<string | undefined> {
  if (schemaFrom === undefined) return schema
  const { name, key } = schemaFrom.configMapKeyRef
  const text = (await cluster.configMap(namespace, name))?.[key]
  if (text === undefined) throw new DependencyNotReady('WaitingForInput', `waiting for key ${key} of ConfigMap ${name}`)
  return text
}

function resolve(resource: Resource<'Subject'>, cluster: ClusterReader, clock: Clock): readonly RegisteredReference[] {
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
