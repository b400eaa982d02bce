import { SchemaError } from '../schema-error.ts'
import type { Dialect } from './dialect.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'
import { NO_BASE, resolveUri, type SchemaResource, SchemaResources, UnresolvedReference } from './schema-resources.ts'

/** A reference of a schema. `find` throws `UnresolvedReference`. */
export type Reference = { readonly uri: string; readonly find: () => SchemaLocation }

/**
 * A schema and the place where it is: its resource, and the resources that led to it. Each reader of a schema moves from
 * schema to schema by `child` and by references, so that all of them find the same target for a reference.
 */
export class SchemaLocation {
  readonly value: PlainJson
  readonly #resource: SchemaResource
  readonly #scope: DynamicScope
  readonly #scopes: DynamicScopes

  private constructor(value: PlainJson, resource: SchemaResource, scope: DynamicScope, scopes: DynamicScopes) {
    this.value = value
    this.#resource = resource
    this.#scope = scope
    this.#scopes = scopes
  }

  /**
   * The location of a schema that is a document. `references` are the documents that it and they refer to, by name. Throws
   * `UnresolvedReference` for an `$id` or a name that is not a URI.
   */
  static ofDocument(schema: PlainJson, references: ReadonlyMap<string, PlainJson> = new Map()): SchemaLocation {
    const scopes = new DynamicScopes(new SchemaResources(schema, references))
    const { root } = scopes.resources
    return new SchemaLocation(schema, root, scopes.enter(NO_SCOPE, root), scopes)
  }

  /** The locations of all documents: the schema and its references. */
  get documents(): readonly SchemaLocation[] {
    return this.#scopes.resources.documents.map((resource) => this.#at(resource.root, resource))
  }

  get dialect(): Dialect {
    return this.#resource.dialect
  }

  /** Equal for locations of the same schema whose references all have the same targets. */
  get scope(): string {
    return this.#scope.key
  }

  /** The location of a schema that a keyword of this one contains, or that is created from it. */
  child(value: PlainJson): SchemaLocation {
    return this.#at(value, this.#scopes.resources.ownerOf(value) ?? this.#resource)
  }

  /** What the schema refers to, whose restrictions apply as well. */
  get references(): readonly Reference[] {
    if (this.value === null || typeof this.value !== 'object') return []
    const { $ref, [this.dialect.dynamicRefKeyword ?? '']: dynamicRef } = this.value as PlainJsonObject
    return [
      ...(typeof $ref === 'string' ? [this.#reference($ref, () => this.#find($ref))] : []),
      ...(typeof dynamicRef === 'string' ? [this.#reference(dynamicRef, () => this.#findDynamic(dynamicRef))] : []),
    ]
  }

  #reference(reference: string, find: () => SchemaLocation): Reference {
    return { uri: resolveUri(reference, this.#resource.uri), find }
  }

  #find(reference: string): SchemaLocation {
    const uri = resolveUri(reference, this.#resource.uri)
    const [document = '', fragment = ''] = uri.split('#')
    const resource = document === this.#resource.uri ? this.#resource : this.#document(document, reference)
    if (!resource)
      throw new UnresolvedReference(
        `$ref '${reference}' refers to ${uri}, which is neither in the schema nor among its references; remote schemas are not fetched`,
      )
    if (fragment === '') return this.#at(resource.root, resource)
    const found = fragment.startsWith('/') ? this.#pointed(resource, fragment) : anchored(resource, fragment)
    if (!found)
      throw new UnresolvedReference(
        `$ref '${reference}' does not exist in ${document === NO_BASE ? 'the schema' : document}`,
      )
    return this.#at(found.value, found.owner)
  }

  /** A document can also refer to others by their names, which are relative to its own, if it has an `$id`. */
  #document(uri: string, reference: string): SchemaResource | undefined {
    const { resources } = this.#scopes
    const [named = ''] = resolveUri(reference, this.#resource.documentUri).split('#', 1)
    return resources.find(uri) ?? resources.find(named)
  }

  /** If the target is a dynamic anchor, the anchor with its name in the outermost resource replaces it. */
  #findDynamic(reference: string): SchemaLocation {
    const target = this.#find(reference)
    const name = percentDecoded(reference.slice(reference.indexOf('#') + 1))
    if (target.#resource.dynamicAnchors.get(name) !== target.value) return target
    const outermost = this.#scope.resources.get(name)
    const value = outermost?.dynamicAnchors.get(name)
    return outermost && value ? this.#at(value, outermost) : target
  }

  /** Resolves a JSON pointer (RFC 6901). At the root, `$defs` also finds `definitions`, as in Confluent's registry. */
  #pointed(resource: SchemaResource, pointer: string): Target | undefined {
    const steps = pointer
      .split('/')
      .slice(1)
      .map((step) => percentDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
    const [first = '', ...others] = steps
    const found = this.#follow(resource, steps)
    return found ?? (first === '$defs' ? this.#follow(resource, ['definitions', ...others]) : undefined)
  }

  #follow(resource: SchemaResource, steps: readonly string[]): Target | undefined {
    let target: Target = { value: resource.root, owner: resource }
    for (const step of steps) {
      const { value } = target
      if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined
      const next = (value as PlainJsonObject)[step] as PlainJson
      target = { value: next, owner: this.#scopes.resources.ownerOf(next) ?? target.owner }
    }
    return target
  }

  #at(value: PlainJson, resource: SchemaResource): SchemaLocation {
    const scope = resource === this.#resource ? this.#scope : this.#scopes.enter(this.#scope, resource)
    return new SchemaLocation(value, resource, scope, this.#scopes)
  }
}

type Target = { readonly value: PlainJson; readonly owner: SchemaResource }

function anchored(resource: SchemaResource, fragment: string): Target | undefined {
  const value = resource.anchors.get(percentDecoded(fragment))
  return value && { value, owner: resource }
}

/** A step with an invalid escape names a member of this name, which rarely exists. */
function percentDecoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** The outermost resource with each dynamic anchor, among those that were entered on the way to a schema. */
type DynamicScope = { readonly key: string; readonly resources: ReadonlyMap<string, SchemaResource> }

const NO_SCOPE: DynamicScope = { key: '', resources: new Map() }
/** Schemas are read once per scope, and the number of scopes can grow exponentially with the anchors. */
const SCOPES_MAX = 100

class DynamicScopes {
  readonly resources: SchemaResources
  readonly #scopes = new Map<string, DynamicScope>()

  constructor(resources: SchemaResources) {
    this.resources = resources
  }

  enter(scope: DynamicScope, resource: SchemaResource): DynamicScope {
    const names = [...resource.dynamicAnchors.keys()].filter((name) => !scope.resources.has(name))
    if (names.length === 0) return scope
    const resources = new Map([...scope.resources, ...names.map((name) => [name, resource] as const)])
    const key = JSON.stringify([...resources].map(([name, { number }]) => [name, number]).sort())
    const known = this.#scopes.get(key) ?? { key, resources }
    this.#scopes.set(key, known)
    if (this.#scopes.size > SCOPES_MAX)
      throw new SchemaError(`$dynamicAnchor: more than ${SCOPES_MAX} combinations of anchors lead to different schemas`)
    return known
  }
}
