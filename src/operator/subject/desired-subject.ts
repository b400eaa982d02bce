import type { CompatibilityLevel, NewSchema, RegisteredReference } from '../../clients/registry-client.ts'
import type { Clock } from '../../common/clock.ts'
import type { ClusterReader } from '../cluster/cluster.ts'
import { DependencyNotReady } from '../controller/reconcile-error.ts'
import { subjectName } from '../resources/index-values.ts'
import type { Resource } from '../resources/resource.ts'
import { resolveSubjectReferences } from './resolve-subject-references.ts'

/** The desired state of a subject, with its references resolved to versions. */
export type DesiredSubject = {
  readonly subject: string
  /** Absent: only the compatibility level is managed. */
  readonly schema?: NewSchema
  readonly normalize: boolean
  readonly compatibility?: CompatibilityLevel
}

/** Throws `DependencyNotReady` or `TerminalError` when the text or a reference cannot be resolved. */
export async function resolveDesiredSubject(
  resource: Resource<'Subject'>,
  cluster: ClusterReader,
  clock: Clock,
): Promise<DesiredSubject> {
  const { spec } = resource
  const text = await resolveSchemaText(spec, resource.metadata.namespace, cluster)
  const references = text === undefined ? [] : resolveSubjectReferences(resource, cluster, clock)
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
  const text = (await cluster.configMap(namespace, name))?.get(key)
  if (text === undefined) throw new DependencyNotReady('WaitingForInput', `waiting for key ${key} of ConfigMap ${name}`)
  return text
}
