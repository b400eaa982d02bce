import { type Dialect, dialectOf } from './dialect.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'

/** Thrown for a `$ref` whose target does not exist. */
export class UnresolvedReference extends Error {
  override readonly name = 'UnresolvedReference'
}

/** A position in a document, with the base URI for its `$ref`s. */
export type Located = { readonly value: PlainJson; readonly base: string; readonly dialect: Dialect }

/** The base URI of schemas without an `$id`, for relative references. */
export const NO_BASE = 'mem://input/'
const META_SCHEMA = /^https?:\/\/json-schema\.org\//

/**
 * The root document and its references, indexed by URI, `$id` and anchor. Documents are never fetched from the network,
 * because a schema could then make the registry send requests to arbitrary addresses (SSRF).
 */
export class Documents {
  readonly root: Located
  readonly #byUri = new Map<string, Located>()

  constructor(root: PlainJson, references: ReadonlyMap<string, PlainJson>) {
    const dialect = dialectOf(root)
    const base = baseUriOf(root, NO_BASE)
    this.root = { value: root, base, dialect }
    for (const [name, value] of references) {
      const uri = resolveUri(name, base)
      this.#add({ value, base: uri, dialect: dialectOf(value) }, uri)
    }
    this.#add(this.root, base)
  }

  /** Resolves `ref` relative to `from`. Throws `UnresolvedReference`. */
  find(ref: string, from: Located): Located {
    const uri = resolveUri(ref, from.base)
    const hash = uri.indexOf('#')
    const [document, fragment] = hash < 0 ? [uri, ''] : [uri.slice(0, hash), uri.slice(hash + 1)]
    const whole = this.#byUri.get(uri) ?? this.#byUri.get(document)
    if (!whole) {
      if (META_SCHEMA.test(document)) return { ...from, value: true }
      throw new UnresolvedReference(
        `$ref '${ref}' refers to ${uri}, which is neither in the schema nor among its references; remote schemas are not fetched`,
      )
    }
    if (this.#byUri.has(uri) || fragment === '') return this.#byUri.get(uri) ?? whole
    const value = fragment.startsWith('/') ? pointed(whole.value, fragment) : undefined
    if (value === undefined)
      throw new UnresolvedReference(`$ref '${ref}' does not exist in ${document === NO_BASE ? 'the schema' : document}`)
    return { ...whole, value }
  }

  #add(at: Located, uri: string): void {
    this.#byUri.set(withoutHash(uri), at)
    // Uses a list instead of recursion, because the depth is not limited here. The loader limits it.
    const left: Located[] = [at]
    for (let next = left.pop(); next; next = left.pop()) left.push(...this.#index(next))
  }

  #index({ value, base, dialect }: Located): readonly Located[] {
    if (value === null || typeof value !== 'object') return []
    if (Array.isArray(value)) return value.map((item: PlainJson) => ({ value: item, base, dialect }))
    const own = idOf(value as PlainJson, dialect, base) ?? base
    const here: Located = { value: value as PlainJson, base: own, dialect }
    if (own !== base && !this.#byUri.has(withoutHash(own))) this.#byUri.set(withoutHash(own), here)
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const anchor = (value as PlainJsonObject)[keyword]
      if (typeof anchor === 'string') this.#byUri.set(`${withoutHash(own)}#${anchor}`, here)
    }
    return Object.values(value as PlainJsonObject).map((member) => ({ value: member, base: own, dialect }))
  }
}

/** The URI of a document by its `$id`, relative to `base`; without an `$id`, `base`. Throws `UnresolvedReference`. */
export function baseUriOf(document: PlainJson, base: string): string {
  return idOf(document, dialectOf(document), base) ?? base
}

function idOf(value: PlainJson, dialect: Dialect, base: string): string | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
  const id = (value as PlainJsonObject)[dialect.idKeyword]
  return typeof id === 'string' ? resolveUri(id, base) : undefined
}

/** Resolves a reference relative to a base URI. Throws `UnresolvedReference` if the result is not a URI. */
export function resolveUri(reference: string, base: string): string {
  try {
    return new URL(reference, base).href
  } catch {
    throw new UnresolvedReference(`'${reference}' is not a URI`)
  }
}

export function withoutHash(uri: string): string {
  return uri.endsWith('#') ? uri.slice(0, -1) : uri
}

/** Resolves a JSON pointer (RFC 6901). At the root, `$defs` also finds `definitions`, as in Confluent's registry. */
function pointed(root: PlainJson, pointer: string): PlainJson | undefined {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => percentDecoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
  const [first = '', ...others] = steps
  const bucket = first === '$defs' ? ['$defs', 'definitions'] : [first]
  return bucket.map((name) => follow(root, [name, ...others])).find((found) => found !== undefined)
}

/** A step with an invalid escape names a member of this name, which rarely exists. */
function percentDecoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

function follow(root: PlainJson, steps: readonly string[]): PlainJson | undefined {
  return steps.reduce<PlainJson | undefined>((value, step) => {
    if (value === null || typeof value !== 'object') return undefined
    return Object.hasOwn(value, step) ? (value as PlainJsonObject)[step] : undefined
  }, root)
}
