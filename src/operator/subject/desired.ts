import type { CompatibilityLevel, NewSchema, SchemaReference } from '../../clients/registry.ts'
import type { Clock } from '../../config/clock.ts'
import type { ClusterView } from '../cluster/cluster.ts'
import { Stalled, Waiting } from '../controller/trouble.ts'
import { conditionOf } from '../resources/condition.ts'
import { type Resource, resourceKey } from '../resources/resource.ts'
import { subjectName } from '../resources/terms.ts'
import { circleThrough } from './references.ts'

/** What a Subject resource asks of the registry, its references resolved to versions. */
export type Desired = {
  readonly subject: string
  /** Absent: only the level is managed. */
  readonly schema?: NewSchema
  readonly normalize: boolean
  readonly compatibility?: CompatibilityLevel
}

const NOT_FOUND_MS = 300_000
const LOOK_AGAIN_MS = 30_000

/** Throws `Waiting` or `Stalled` when the text or a reference is not to be had. */
export async function desiredOf(resource: Resource<'Subject'>, cluster: ClusterView, clock: Clock): Promise<Desired> {
  const { spec } = resource
  const text = await textFrom(spec, resource.metadata.namespace, cluster)
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
  references: readonly SchemaReference[],
): NewSchema {
  return {
    schema,
    schemaType: spec.schemaType,
    ...(references.length === 0 ? {} : { references }),
    ...(spec.metadata === undefined ? {} : { metadata: spec.metadata }),
    ...(spec.ruleSet === undefined ? {} : { ruleSet: spec.ruleSet }),
  }
}

/** Undefined when none is declared. Throws `Waiting` when its ConfigMap is not there. */
export async function textFrom(
  { schema, schemaFrom }: Pick<Resource<'Subject'>['spec'], 'schema' | 'schemaFrom'>,
  namespace: string,
  cluster: ClusterView,
): Promise<string | undefined> {
  if (schemaFrom === undefined) return schema
  const { name, key } = schemaFrom.configMapKeyRef
  const text = (await cluster.configMap(namespace, name))?.[key]
  if (text === undefined) throw new Waiting('WaitingForInput', `waiting for key ${key} of ConfigMap ${name}`)
  return text
}

function resolve(resource: Resource<'Subject'>, cluster: ClusterView, clock: Clock): readonly SchemaReference[] {
  assertNoCycle(resource, cluster)
  return (resource.spec.references ?? []).map(({ name, subject, subjectRef, version }) => {
    if (subjectRef === undefined) return { name, subject: subject ?? '', version: version ?? 0 }
    const referent = cluster.get(resourceKey('Subject', resource.metadata.namespace, subjectRef.name))
    if (referent === undefined) return missing(resource, subjectRef.name, clock)
    if (referent.spec.registryRef.name !== resource.spec.registryRef.name) {
      throw new Stalled(
        'ReferenceInvalid',
        `Subject ${subjectRef.name} is of registry ${referent.spec.registryRef.name}`,
      )
    }
    return { name, subject: subjectName(referent), version: version ?? versionOf(referent) }
  })
}

function versionOf(referent: Resource<'Subject'>): number {
  const { version, observedGeneration, conditions } = referent.status
  const ready = conditionOf(conditions, 'Ready')?.status === 'True'
  if (ready && version !== undefined && observedGeneration === referent.metadata.generation) return version
  throw new Waiting('ReferencePending', `waiting for Subject ${referent.metadata.name}`)
}

/** At first it may just not be declared yet; after a while somebody has to look. */
function missing(resource: Resource<'Subject'>, name: string, clock: Clock): never {
  const waitedMs = clock.nowMs() - Date.parse(resource.metadata.creationTimestamp)
  const message = `there is no Subject ${name} in namespace ${resource.metadata.namespace}`
  if (waitedMs > NOT_FOUND_MS) throw new Stalled('ReferenceNotFound', message)
  throw new Waiting('ReferencePending', message, { againMs: LOOK_AGAIN_MS })
}

/** All members of a cycle say so, each with the way round. */
function assertNoCycle(start: Resource<'Subject'>, cluster: ClusterView): void {
  const circle = circleThrough(start, cluster)
  if (circle !== undefined) throw new Stalled('ReferenceCycle', `references go round: ${circle.join(' → ')}`)
}
