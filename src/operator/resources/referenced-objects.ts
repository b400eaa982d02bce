import type { Resource } from './resource.ts'

type Values = { readonly configmaps: readonly string[]; readonly secrets: readonly string[] }
/** The ConfigMaps and Secrets of its namespace that a resource refers to, and that namespace. */
export type ReferencedObjects = Values & { readonly namespaces: readonly string[] }

export function referencedObjectsOf(resource: Resource): ReferencedObjects {
  return { ...valuesOf(resource), namespaces: [resource.metadata.namespace] }
}

/** The resources to reconcile after a change of a ConfigMap or Secret. */
export function* resourcesReferringTo(
  of: 'configmaps' | 'secrets' | 'namespaces',
  { namespace, name }: { readonly namespace: string; readonly name: string },
  resources: Iterable<Resource>,
): Generator<Resource, void> {
  for (const resource of resources)
    if (resource.metadata.namespace === namespace && referencedObjectsOf(resource)[of].includes(name)) yield resource
}

function valuesOf(resource: Resource): Values {
  if (resource.kind === 'Subject') {
    const { schemaFrom, imports = [] } = resource.spec
    const sources = [schemaFrom, ...imports.map((version) => version.schemaFrom)]
    return { configmaps: sources.flatMap((source) => source?.configMapKeyRef.name ?? []), secrets: [] }
  }
  if (resource.kind !== 'Connector') return { configmaps: [], secrets: [] }
  const { configFrom = [], valuesFrom = [], offsets } = resource.spec
  return {
    configmaps: [
      ...configFrom.map(({ configMapRef }) => configMapRef.name),
      ...valuesFrom.flatMap(({ configMapKeyRef }) => configMapKeyRef?.name ?? []),
      ...[offsets?.operation?.offsetsFrom?.configMapKeyRef.name ?? []].flat(),
    ],
    secrets: valuesFrom.flatMap(({ secretKeyRef }) => secretKeyRef?.name ?? []),
  }
}
