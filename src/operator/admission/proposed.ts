import type { ClusterView } from '../cluster/cluster.ts'
import { type Kind, keyOf, type Resource, type ResourceKey } from '../resources/resource.ts'
import { type Term, termsOf } from '../resources/terms.ts'

/** What would be declared if this resource were, in place of the one that has its name now. */
export function withProposed(cluster: ClusterView, proposed: Resource): ClusterView {
  const key = keyOf(proposed)
  return {
    get: <K extends Kind>(wanted: ResourceKey<K>) =>
      wanted === key ? (proposed as unknown as Resource<K>) : cluster.get(wanted),
    list: <K extends Kind>(kind: K) => {
      const known = cluster.list(kind)
      if (kind !== proposed.kind) return known
      return [...known.filter((other) => keyOf(other) !== key), proposed as unknown as Resource<K>]
    },
    find: <K extends Kind>(term: Term<K>) => {
      const known = cluster.find(term).filter((other) => keyOf(other) !== key)
      return termsOf(proposed).includes(term) ? [...known, proposed as unknown as Resource<K>] : known
    },
    configMap: (namespace, name) => cluster.configMap(namespace, name),
    secret: (namespace, name) => cluster.secret(namespace, name),
    secretVersion: (namespace, name) => cluster.secretVersion(namespace, name),
    namespace: (name) => cluster.namespace(name),
  }
}
