import type { ClusterReader } from '../cluster/cluster.ts'
import { type IndexValue, indexValuesOf } from '../resources/index-values.ts'
import { type Resource, type ResourceKey, type ResourceKind, resourceKeyOf } from '../resources/resource.ts'

/** The cluster as it would be if this resource were stored. */
export function withProposed(cluster: ClusterReader, proposed: Resource): ClusterReader {
  const key = resourceKeyOf(proposed)
  return {
    get: <K extends ResourceKind>(wanted: ResourceKey<K>) =>
      wanted === key ? (proposed as unknown as Resource<K>) : cluster.get(wanted),
    list: <K extends ResourceKind>(kind: K) => {
      const known = cluster.list(kind)
      if (kind !== proposed.kind) return known
      return [...known.filter((other) => resourceKeyOf(other) !== key), proposed as unknown as Resource<K>]
    },
    find: <K extends ResourceKind>(term: IndexValue<K>) => {
      const known = cluster.find(term).filter((other) => resourceKeyOf(other) !== key)
      return indexValuesOf(proposed).includes(term) ? [...known, proposed as unknown as Resource<K>] : known
    },
    configMap: (namespace, name) => cluster.configMap(namespace, name),
    secret: (namespace, name) => cluster.secret(namespace, name),
    secretVersion: (namespace, name) => cluster.secretVersion(namespace, name),
    namespace: (name) => cluster.namespace(name),
  }
}
