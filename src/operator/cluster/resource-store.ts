import { type IndexValue, indexValuesOf } from '../resources/index-values.ts'
import {
  kindOfKey,
  RESOURCE_KINDS,
  type Resource,
  type ResourceKey,
  type ResourceKind,
  resourceKeyOf,
} from '../resources/resource.ts'

type Resources = Map<ResourceKey, Resource>

/** The cached resources, indexed by key, kind and index value. */
export class ResourceStore {
  readonly #byKind = new Map<ResourceKind, Resources>(RESOURCE_KINDS.map((kind) => [kind, new Map()]))
  readonly #byTerm = new Map<IndexValue, Resources>()

  get<K extends ResourceKind>(key: ResourceKey<K>): Resource<K> | undefined {
    return this.#byKind.get(kindOfKey(key))?.get(key) as Resource<K> | undefined
  }

  list<K extends ResourceKind>(kind: K): readonly Resource<K>[] {
    return [...this.#byKind.get(kind)!.values()] as readonly Resource[] as readonly Resource<K>[]
  }

  count(kind: ResourceKind): number {
    return this.#byKind.get(kind)!.size
  }

  find<K extends ResourceKind>(term: IndexValue<K>): readonly Resource<K>[] {
    return [...(this.#byTerm.get(term)?.values() ?? [])] as readonly Resource[] as readonly Resource<K>[]
  }

  all(): readonly Resource[] {
    return RESOURCE_KINDS.flatMap((kind) => this.list(kind))
  }

  put(resource: Resource): void {
    const key = resourceKeyOf(resource)
    this.drop(key)
    this.#byKind.get(resource.kind)!.set(key, resource)
    for (const term of indexValuesOf(resource)) {
      const known = this.#byTerm.get(term)
      if (known === undefined) this.#byTerm.set(term, new Map([[key, resource]]))
      else known.set(key, resource)
    }
  }

  drop(key: ResourceKey): void {
    const before = this.get(key)
    if (before === undefined) return
    this.#byKind.get(before.kind)!.delete(key)
    for (const term of indexValuesOf(before)) {
      const known = this.#byTerm.get(term)
      known?.delete(key)
      if (known?.size === 0) this.#byTerm.delete(term)
    }
  }
}
