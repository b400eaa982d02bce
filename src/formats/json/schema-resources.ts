import { type Dialect, dialectOf } from './dialect.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'
import { standardMetaSchema } from './standard-meta-schema.ts'

/** Thrown for a reference whose target does not exist, and for an `$id` or a reference that is not a URI. */
export class UnresolvedReference extends Error {
  override readonly name = 'UnresolvedReference'
}

/** The base URI of schemas without an `$id`, for relative references. */
export const NO_BASE = 'mem://input/'

/** A schema with a URI of its own: a document, or a subschema with an `$id`. `#…` refers to a place in it. */
export type SchemaResource = {
  /** Differs from resource to resource, which URIs may not. */
  readonly number: number
  /** The base URI of its references, without a fragment. */
  readonly uri: string
  /** The URI of the name of its document, which differs if the document has an `$id`. */
  readonly documentUri: string
  readonly root: PlainJson
  readonly dialect: Dialect
  readonly anchors: Map<string, PlainJsonObject>
  /** The anchors that a reference can find in an outer resource; the empty name is that of `$recursiveAnchor`. */
  readonly dynamicAnchors: Map<string, PlainJsonObject>
}

/**
 * The resources of a schema and of its references. Documents are never fetched from the network, because a schema could
 * then make the registry send requests to arbitrary addresses (SSRF).
 */
export class SchemaResources {
  readonly root: SchemaResource
  /** The schema and its references. */
  readonly documents: readonly SchemaResource[]
  readonly #references: ReadonlyMap<string, PlainJson>
  readonly #byUri = new Map<string, SchemaResource>()
  readonly #owners = new Map<PlainJson, SchemaResource>()
  #count = 0

  /** Throws `UnresolvedReference` for an `$id` that is not a URI. */
  constructor(root: PlainJson, references: ReadonlyMap<string, PlainJson>) {
    this.#references = references
    const dialect = dialectOf(root, undefined, references)
    const base = baseIn(root, dialect, NO_BASE)
    const referenced = [...references].map(([name, document]) =>
      this.#add(document, withoutFragment(resolveUri(name, base)), dialect),
    )
    // After its references, because one of them can have the same URI.
    this.root = this.#add(root, base, dialect)
    this.documents = [this.root, ...referenced]
  }

  find(uri: string): SchemaResource | undefined {
    const known = this.#byUri.get(uri)
    if (known) return known
    const metaSchema = standardMetaSchema(uri)
    return metaSchema === undefined ? undefined : this.#add(metaSchema, uri, this.root.dialect)
  }

  /** The resource that a schema belongs to; undefined for a value that no keyword makes a schema. */
  ownerOf(schema: PlainJson): SchemaResource | undefined {
    return this.#owners.get(schema)
  }

  #add(document: PlainJson, uri: string, inherited: Dialect): SchemaResource {
    const dialect = dialectOf(document, inherited, this.#references)
    const resource = this.#create(document, baseIn(document, dialect, uri), uri, dialect)
    this.#byUri.set(uri, resource)
    // Uses a list instead of recursion, because the depth is not limited here. Those that read the schemas limit it.
    const open = [{ schema: document, within: resource }]
    for (let next = open.pop(); next; next = open.pop()) {
      const { schema } = next
      if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) continue
      const owner = schema === document ? resource : this.#resourceOf(schema as PlainJsonObject, next.within)
      this.#owners.set(schema, owner)
      addAnchors(schema as PlainJsonObject, owner)
      for (const inner of subschemasOf(schema as PlainJsonObject)) open.push({ schema: inner, within: owner })
    }
    return resource
  }

  #resourceOf(schema: PlainJsonObject, within: SchemaResource): SchemaResource {
    const dialect = dialectOf(schema, within.dialect, this.#references)
    const uri = baseIn(schema, dialect, within.uri)
    return uri === within.uri ? within : this.#create(schema, uri, within.documentUri, dialect)
  }

  #create(root: PlainJson, uri: string, documentUri: string, dialect: Dialect): SchemaResource {
    this.#count += 1
    const [anchors, dynamicAnchors] = [new Map(), new Map()]
    const resource = { number: this.#count, uri, documentUri, root, dialect, anchors, dynamicAnchors }
    if (!this.#byUri.has(uri)) this.#byUri.set(uri, resource)
    return resource
  }
}

function baseIn(schema: PlainJson, dialect: Dialect, base: string): string {
  const id = idOf(schema, dialect)
  return id === undefined ? base : withoutFragment(resolveUri(id, base))
}

/** Up to draft 7, everything beside a `$ref` is ignored. */
function idOf(schema: PlainJson, { idKeyword, refHasSiblings }: Dialect): string | undefined {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return undefined
  const { [idKeyword]: id, $ref: reference } = schema as PlainJsonObject
  return typeof id !== 'string' || (!refHasSiblings && typeof reference === 'string') ? undefined : id
}

/** Up to draft 7, an anchor is the fragment of an `$id`. */
function addAnchors(schema: PlainJsonObject, { root, dialect, anchors, dynamicAnchors }: SchemaResource): void {
  const { $anchor, $dynamicAnchor, $recursiveAnchor } = schema
  const id = dialect.isModern ? undefined : idOf(schema, dialect)
  const names = [$anchor, $dynamicAnchor, id?.includes('#') ? id.slice(id.indexOf('#') + 1) : undefined]
  for (const name of names) if (typeof name === 'string' && !anchors.has(name)) anchors.set(name, schema)
  if (dialect.dynamicRefKeyword === '$dynamicRef' && typeof $dynamicAnchor === 'string')
    dynamicAnchors.set($dynamicAnchor, schema)
  if (dialect.dynamicRefKeyword === '$recursiveRef' && $recursiveAnchor === true && schema === root)
    dynamicAnchors.set('', schema)
}

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS = new Set([
  ...['not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf'],
  ...['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains'],
  ...['additionalProperties', 'unevaluatedProperties', 'propertyNames', 'contentSchema'],
])
/** Keywords whose value is an object with schemas. */
const NAMED_SCHEMAS = new Set([
  ...['properties', 'patternProperties', 'dependencies', 'dependentSchemas', '$defs', 'definitions'],
])

function subschemasOf(schema: PlainJsonObject): readonly PlainJson[] {
  return Object.entries(schema).flatMap(([keyword, value]): readonly PlainJson[] => {
    if (value === null || typeof value !== 'object') return []
    if (SCHEMAS.has(keyword)) return Array.isArray(value) ? value : [value]
    return NAMED_SCHEMAS.has(keyword) && !Array.isArray(value) ? Object.values(value) : []
  })
}

/** Resolves a reference relative to a base URI. Throws `UnresolvedReference` if the result is not a URI. */
export function resolveUri(reference: string, base: string): string {
  try {
    return new URL(reference, base).href
  } catch {
    throw new UnresolvedReference(`'${reference}' is not a URI`)
  }
}

function withoutFragment(uri: string): string {
  return uri.split('#', 1)[0] as string
}
