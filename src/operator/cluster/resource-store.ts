import { KINDS, type Kind, keyOf, kindOf, type Resource, type ResourceKey } from '../resources/resource.ts'
import { type Term, termsOf } from '../resources/terms.ts'

type Resources = Map<ResourceKey, Resource>

/** Resources as they are known now, found by key, kind or term however many there are. */
export class ResourceStore {
  readonly #byKind = new Map<Kind, Resources>(KINDS.map((kind) => [kind, new Map()]))
  readonly #byTerm = new Map<Term, Resources>()

  get<K extends Kind>(key: ResourceKey<K>): Resource<K> | undefined {
    return this.#byKind.get(kindOf(key))?.get(key) as Resource<K> | undefined
  }

  list<K extends Kind>(kind: K): readonly Resource<K>[] {
    return [...this.#byKind.get(kind)!.values()] as readonly Resource[] as readonly Resource<K>[]
  }

  find<K extends Kind>(term: Term<K>): readonly Resource<K>[] {
    return [...(this.#byTerm.get(term)?.values() ?? [])] as readonly Resource[] as readonly Resource<K>[]
  }

  all(): readonly Resource[] {
    return KINDS.flatMap((kind) => this.list(kind))
  }

  put(resource: Resource): void {
    const key = keyOf(resource)
    this.drop(key)
    this.#byKind.get(resource.kind)!.set(key, resource)
    for (const term of termsOf(resource)) {
      const known = this.#byTerm.get(term)
      if (known === undefined) this.#byTerm.set(term, new Map([[key, resource]]))
      else known.set(key, resource)
    }
  }

  drop(key: ResourceKey): void {
    const before = this.get(key)
    if (before === undefined) return
    this.#byKind.get(before.kind)!.delete(key)
    for (const term of termsOf(before)) {
      const known = this.#byTerm.get(term)
      known?.delete(key)
      if (known?.size === 0) this.#byTerm.delete(term)
    }
  }
}
