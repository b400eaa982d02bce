import { ecmaPattern } from '../../regex/pattern.ts'
import { defineMember } from '../define-member.ts'
import { type FieldMask, MASKED_VALUE } from '../field-transform.ts'
import type { SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import { readJsonSchema } from './read-json-schema.ts'
import type { SchemaLocation } from './schema-location.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'
import { UnresolvedReference } from './schema-resources.ts'
import { VisitBudget } from './visit-budget.ts'

const VISITS = { min: 10_000, perValue: 100 }
/** Keywords with schemas that may apply to the same value as the schema that contains them. */
const SAME_VALUE = ['if', 'then', 'else'] as const
const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'] as const
const OF_ITEMS = ['items', 'additionalItems', 'unevaluatedItems', 'contains'] as const
const OF_OTHER_MEMBERS = ['additionalProperties', 'unevaluatedProperties'] as const

/**
 * Returns a function that copies a value with masked fields. A field is masked if any schema that could apply to it is: whether a branch
 * fits the value is not asked, so that no value decides about what is shown of it. The function throws a `SchemaError`.
 */
export function jsonFieldMasker(source: SchemaSource): (value: unknown, masks: FieldMask) => unknown {
  const root = readJsonSchema(source)
  return (value, masks) => new Masking(new VisitBudget(value, VISITS), masks).mask(value, [root], '$')
}

class Masking {
  readonly #budget: VisitBudget
  readonly #masks: FieldMask

  constructor(budget: VisitBudget, masks: FieldMask) {
    this.#budget = budget
    this.#masks = masks
  }

  /** Items have the path of their field. */
  mask(value: unknown, schemas: readonly SchemaLocation[], path: string): unknown {
    const applying = this.#withApplying(schemas)
    const tags = applying.flatMap(({ value: schema }) => tagsOf(schema))
    if (this.#masks({ fullName: path, tags })) return MASKED_VALUE
    if (Array.isArray(value)) return value.map((item, at) => this.mask(item, itemSchemas(applying, at), path))
    if (typeof value !== 'object' || value === null) return value
    const copy: Record<string, unknown> = {}
    for (const [name, member] of Object.entries(value)) {
      defineMember(copy, name, this.mask(member, memberSchemas(applying, name), `${path}.${name}`))
    }
    return copy
  }

  /** The schemas, with those that they refer to or contain for the same value. */
  #withApplying(schemas: readonly SchemaLocation[]): readonly SchemaLocation[] {
    const found = new Map<PlainJson, Set<string>>()
    const applying: SchemaLocation[] = []
    const open = [...schemas]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const scopes = found.get(at.value) ?? new Set<string>()
      if (!isObject(at.value) || scopes.has(at.scope)) continue
      if (!this.#budget.spend()) throw new SchemaError('too many subschemas apply to the same value')
      found.set(at.value, scopes.add(at.scope))
      applying.push(at)
      open.push(...sameValueSchemas(at, at.value), ...targetsOf(at))
    }
    return applying
  }
}

function sameValueSchemas(at: SchemaLocation, schema: PlainJsonObject): readonly SchemaLocation[] {
  const lists = SAME_VALUE_LISTS.flatMap((keyword) => listOf(schema[keyword]))
  const dependent = [schema['dependentSchemas'], schema['dependencies']].flatMap((one) =>
    isObject(one) ? Object.values(one) : [],
  )
  const single = SAME_VALUE.flatMap((keyword) => schema[keyword] ?? [])
  return [...lists, ...dependent, ...single].filter(isObject).map((one) => at.child(one))
}

function targetsOf(at: SchemaLocation): readonly SchemaLocation[] {
  try {
    return at.references.map(({ find }) => find())
  } catch (error) {
    if (error instanceof UnresolvedReference) throw new SchemaError(error.message, { cause: error })
    throw error
  }
}

function itemSchemas(applying: readonly SchemaLocation[], index: number): readonly SchemaLocation[] {
  return applying.flatMap((at) => {
    const schema = at.value as PlainJsonObject
    const tuple = [schema['prefixItems'], schema['items']].flatMap((one) => listOf(one)[index] ?? [])
    const others = OF_ITEMS.flatMap((keyword) => schema[keyword] ?? [])
    return [...tuple, ...others].filter(isObject).map((one) => at.child(one))
  })
}

function memberSchemas(applying: readonly SchemaLocation[], name: string): readonly SchemaLocation[] {
  return applying.flatMap((at) => {
    const { properties, patternProperties, ...schema } = at.value as PlainJsonObject
    const own = isObject(properties) && Object.hasOwn(properties, name) ? [properties[name] ?? null] : []
    const byPattern = isObject(patternProperties)
      ? Object.entries(patternProperties).flatMap(([pattern, one]) => (couldMatch(pattern, name) ? [one] : []))
      : []
    const others = own.length === 0 ? OF_OTHER_MEMBERS.flatMap((keyword) => schema[keyword] ?? []) : []
    return [...own, ...byPattern, ...others].filter(isObject).map((one) => at.child(one))
  })
}

/** True also for a pattern that cannot be matched in linear time. */
function couldMatch(pattern: string, name: string): boolean {
  try {
    const compiled = ecmaPattern(pattern)
    return !compiled.isLinear || compiled.test(name)
  } catch {
    return true
  }
}

function tagsOf(schema: PlainJson): readonly string[] {
  const tags = isObject(schema) ? schema['confluent:tags'] : undefined
  return Array.isArray(tags) ? tags.map(String) : []
}

function listOf(value: PlainJson | undefined): readonly PlainJson[] {
  return Array.isArray(value) ? value : []
}

function isObject(value: PlainJson | undefined): value is PlainJsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
