import { defineMember } from '../define-member.ts'
import type { FieldContext, FieldTransform, FieldType } from '../field-transform.ts'
import type { SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import { compileSubschemas, type ValueCheck } from './meta-schema.ts'
import { Documents, type Located, UnresolvedReference } from './references.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'

/** Deeper nesting indicates a circular `$ref`. */
const DEPTH_MAX = 500
/**
 * How often schemas are visited for each value in a record. A schema that `allOf` names twice is visited twice, and so are its
 * own branches: the number can grow exponentially with the schema.
 */
const VISITS_PER_VALUE_MAX = 100
const VISITS_MIN = 10_000

/** The context of one transformation. */
type Walk = {
  /** How many more schemas may be visited. */
  visitsLeft: number
  readonly documents: Documents
  readonly transform: FieldTransform
  readonly fits: (schema: PlainJson, value: unknown) => boolean
}
/** A position in the schema and the property it belongs to. Array items and branches belong to their property. */
type Location = {
  readonly at: Located
  readonly path: string
  readonly field: FieldContext | undefined
  readonly depth: number
}

/**
 * Returns a function that copies a value with its fields transformed. As in Confluent's clients, it visits every schema
 * of `allOf`, every matching schema of `anyOf`, the first matching schema of `oneOf`, and the listed properties. The
 * function throws a `SchemaError`.
 */
export function jsonFieldTransformer(source: SchemaSource): (value: unknown, transform: FieldTransform) => unknown {
  const references = new Map((source.dependencies ?? []).map(({ name, text }) => [name, JSON.parse(text) as PlainJson]))
  const root = JSON.parse(source.text) as PlainJson
  const documents = new Documents(root, references)
  const checks = new Map<PlainJson, ValueCheck>()
  let checkOf: ((schema: PlainJson) => ValueCheck) | undefined
  const fits = (schema: PlainJson, value: unknown) => {
    if (typeof schema === 'boolean') return schema
    checkOf ??= compileSubschemas(root, references)
    const check = checks.get(schema) ?? checkOf(schema)
    checks.set(schema, check)
    return check(value) === undefined
  }
  return (value, transform) =>
    transformIn({ visitsLeft: visitsMax(value), documents, transform, fits }, value, {
      at: documents.root,
      path: '$',
      field: undefined,
      depth: 0,
    })
}

function transformIn(walk: Walk, value: unknown, location: Location): unknown {
  const schema = location.at.value
  walk.visitsLeft -= 1
  if (walk.visitsLeft < 0) throw new SchemaError(`${location.path}: too many subschemas apply to the same value`)
  if (value === null || value === undefined || !isObject(schema)) return value
  if (location.depth > DEPTH_MAX)
    throw new SchemaError(`${location.path}: the schema is nested deeper than ${DEPTH_MAX}`)
  const branches = branchesFor(walk, schema, value)
  if (branches !== undefined) {
    const changed = branches.reduce<unknown>(
      (before, branch) => transformIn(walk, before, toSubschema(location, branch)),
      value,
    )
    return transformChildren(walk, changed, location, schema)
  }
  if (Array.isArray(value) && schema['items'] !== undefined) return transformChildren(walk, value, location, schema)
  const reference = schema['$ref']
  if (typeof reference === 'string') return transformIn(walk, value, resolveReference(walk, location, reference))
  if (isObject(schema['properties']) && typeof value === 'object')
    return transformChildren(walk, value, location, schema)
  // Confluent's clients skip values without a known type; here a rule can reject them.
  return location.field ? walk.transform(location.field, typeOf(schema, value), value) : value
}

function visitsMax(value: unknown): number {
  return VISITS_MIN + VISITS_PER_VALUE_MAX * countValues(value)
}

function countValues(root: unknown): number {
  const open = [root]
  let count = 0
  while (open.length > 0) {
    const value = open.pop()
    count += 1
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) continue
    for (const member of Object.values(value)) open.push(member)
  }
  return count
}

function toSubschema(location: Location, schema: PlainJson): Location {
  return { ...location, at: { ...location.at, value: schema }, depth: location.depth + 1 }
}

function resolveReference({ documents }: Walk, location: Location, reference: string): Location {
  try {
    return { ...location, at: documents.find(reference, location.at), depth: location.depth + 1 }
  } catch (error) {
    if (error instanceof UnresolvedReference) throw new SchemaError(error.message, { cause: error })
    throw error
  }
}

/** The branches of a combined schema that apply to the value; undefined if the schema is not combined. */
function branchesFor({ fits }: Walk, schema: PlainJsonObject, value: unknown): readonly PlainJson[] | undefined {
  const { allOf, oneOf, anyOf } = schema
  if (Array.isArray(allOf)) return allOf
  if (Array.isArray(oneOf)) return oneOf.filter((branch) => fits(branch, value)).slice(0, 1)
  if (Array.isArray(anyOf)) return anyOf.filter((branch) => fits(branch, value))
  return undefined
}

/** Transforms the listed properties of an object, or the items of an array. */
function transformChildren(walk: Walk, value: unknown, location: Location, schema: PlainJsonObject): unknown {
  const { items, properties } = schema
  if (Array.isArray(value)) {
    // Confluent's clients do not visit the items of a tuple (a list of item schemas).
    if (items === undefined || Array.isArray(items)) return value
    return value.map((item) => transformIn(walk, item, toSubschema(location, items)))
  }
  if (typeof value !== 'object' || value === null || !isObject(properties)) return value
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    defineMember(
      copy,
      name,
      property === undefined ? member : transformProperty(walk, member, location, name, property),
    )
  }
  return copy
}

function transformProperty(walk: Walk, value: unknown, location: Location, name: string, schema: PlainJson): unknown {
  const path = `${location.path}.${name}`
  const tags = isObject(schema) ? schema['confluent:tags'] : undefined
  const field = { fullName: path, tags: Array.isArray(tags) ? tags.map(String) : [] }
  return transformIn(walk, value, { ...toSubschema(location, schema), path, field })
}

function typeOf(schema: PlainJsonObject, value: unknown): FieldType {
  if (Array.isArray(value)) return 'ARRAY'
  if (typeof value === 'object') return 'MAP'
  if (schema['enum'] !== undefined || schema['const'] !== undefined) return 'ENUM'
  const { type } = schema
  const types = Array.isArray(type) ? type : [type]
  if (typeof value === 'string') return types.includes('string') ? 'STRING' : 'NULL'
  if (typeof value === 'boolean') return 'BOOLEAN'
  return types.includes('integer') && Number.isInteger(value) ? 'INT' : 'DOUBLE'
}

function isObject(value: PlainJson | undefined): value is PlainJsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
