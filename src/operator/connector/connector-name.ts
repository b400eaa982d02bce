import type { ClusterReader } from '../cluster/cluster.ts'
import { connectorName, externalObjectIndexFor } from '../resources/index-values.ts'
import type { Resource } from '../resources/resource.ts'
import type { WorkerRuntimeConfig } from '../runtimes.ts'

type Naming = Pick<WorkerRuntimeConfig, 'name' | 'nameTemplate' | 'allowsExplicitNames'>

/** The name of a connector on its worker. */
export function resolveConnectorName(
  { nameTemplate, allowsExplicitNames }: Naming,
  resource: Resource<'Connector'>,
): string {
  const { spec, metadata } = resource
  if (spec.name !== undefined && allowsExplicitNames) return spec.name
  const values = { namespace: metadata.namespace, name: connectorName(resource) }
  return nameTemplate.replace(/\{(namespace|name)\}/g, (_, field: 'namespace' | 'name') => values[field])
}

/** All Connectors that resolve to this name on the worker, found by index. */
export function findClaimants(
  runtimeConfig: Naming,
  name: string,
  cluster: Pick<ClusterReader, 'find'>,
): readonly Resource<'Connector'>[] {
  const declared = new Set([name, ...declaredNames(runtimeConfig.nameTemplate, name)])
  return [...declared]
    .flatMap((one) => cluster.find(externalObjectIndexFor('Connector', runtimeConfig.name, one)))
    .filter((resource) => resolveConnectorName(runtimeConfig, resource) === name)
}

/** Every declared name for which the template can have produced `made`, in any namespace. */
function declaredNames(template: string, made: string): readonly string[] {
  const [before = '', between, after] = template.split(/\{namespace\}|\{name\}/)
  if (after === undefined) {
    const fits = made.startsWith(before) && made.endsWith(between ?? '')
    return fits ? [made.slice(before.length, made.length - (between ?? '').length)] : []
  }
  if (!made.startsWith(before) || !made.endsWith(after)) return []
  const inner = made.slice(before.length, made.length - after.length)
  const isNameFirst = template.indexOf('{name}') < template.indexOf('{namespace}')
  const names: string[] = []
  for (let at = inner.indexOf(between!); at >= 0; at = inner.indexOf(between!, at + 1)) {
    names.push(isNameFirst ? inner.slice(0, at) : inner.slice(at + between!.length))
    if (at >= inner.length) break
  }
  return names
}
