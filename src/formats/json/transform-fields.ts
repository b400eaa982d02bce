import { defineMember } from '../define-member.ts'
import type { FieldContext, FieldTransform, FieldType } from '../field-transform.ts'
import type { SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import { readJsonSchema } from './read-json-schema.ts'
import type { Reference, SchemaLocation } from './schema-location.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'
import { UnresolvedReference } from './schema-resources.ts'
import { SchemaValidator, type ValueCheck } from './schema-validator.ts'
import { VisitBudget } from './visit-budget.ts'

/** Deeper nesting indicates a circular `$ref`. */
const DEPTH_MAX = 500
const VISITS = { min: 10_000, perValue: 100 }

/** The context of one transformation. */
type Walk = {
  readonly budget: VisitBudget
  readonly transform: FieldTransform
  readonly fits: (schema: SchemaLocation, value: unknown) => boolean
}
/** A position in the schema and the property it belongs to. Array items and branches belong to their property. */
type Location = {
  readonly at: SchemaLocation
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
  const root = readJsonSchema(source)
  const validator = new SchemaValidator()
  const checks = new Map<string, Map<PlainJson, ValueCheck>>()
  const fits = (schema: SchemaLocation, value: unknown) => {
    const inScope = checks.get(schema.scope) ?? new Map<PlainJson, ValueCheck>()
    const check = inScope.get(schema.value) ?? validator.check(schema)
    checks.set(schema.scope, inScope.set(schema.value, check))
    return check(value) === undefined
  }
  return (value, transform) =>
    transformIn({ budget: new VisitBudget(value, VISITS), transform, fits }, value, {
      at: root,
      path: '$',
      field: undefined,
      depth: 0,
    })
}

function transformIn(walk: Walk, value: unknown, location: Location): unknown {
  const schema = location.at.value
  if (!walk.budget.spend()) throw new SchemaError(`${location.path}: too many subschemas apply to the same value`)
  if (value === null || value === undefined || !isObject(schema)) return value
  if (location.depth > DEPTH_MAX)
    throw new SchemaError(`${location.path}: the schema is nested deeper than ${DEPTH_MAX}`)
  const branches = branchesFor(walk, location.at, schema, value)
  if (branches !== undefined) {
    const changed = branches.reduce<unknown>(
      (before, branch) => transformIn(walk, before, toSubschema(location, branch)),
      value,
    )
    return transformChildren(walk, changed, location, schema)
  }
  if (Array.isArray(value) && schema['items'] !== undefined) return transformChildren(walk, value, location, schema)
  const [reference] = location.at.references
  if (reference) return transformIn(walk, value, resolveReference(location, reference))
  if (isObject(schema['properties']) && typeof value === 'object')
    return transformChildren(walk, value, location, schema)
  // Confluent's clients skip values without a known type; here a rule can reject them.
  return location.field ? walk.transform(location.field, typeOf(schema, value), value) : value
}

function toSubschema(location: Location, schema: PlainJson): Location {
  return { ...location, at: location.at.child(schema), depth: location.depth + 1 }
}

function resolveReference(location: Location, { find }: Reference): Location {
  try {
    return { ...location, at: find(), depth: location.depth + 1 }
  } catch (error) {
    if (error instanceof UnresolvedReference) throw new SchemaError(error.message, { cause: error })
    throw error
  }
}

/** The branches of a combined schema that apply to the value; undefined if the schema is not combined. */
function branchesFor(
  { fits }: Walk,
  at: SchemaLocation,
  { allOf, oneOf, anyOf }: PlainJsonObject,
  value: unknown,
): readonly PlainJson[] | undefined {
  const doesFit = (branch: PlainJson) => fits(at.child(branch), value)
  if (Array.isArray(allOf)) return allOf
  if (Array.isArray(oneOf)) return oneOf.filter(doesFit).slice(0, 1)
  if (Array.isArray(anyOf)) return anyOf.filter(doesFit)
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
