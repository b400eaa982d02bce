import { ecmaPattern } from '../../regex/pattern.ts'
import type { Dialect } from './dialect.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'
import { hasMember, isJsonObject, keywordEntries } from './validation-assertions.ts'
import { type Check, Evaluated, type ValidationRun } from './validation-run.ts'

type Child = (schema: PlainJson) => Check

/** The checks of the keywords that have subschemas, except `unevaluated…`. */
export function applicatorsOf(schema: PlainJsonObject, dialect: Dialect, child: Child): readonly Check[] {
  return [
    ...propertyChecks(schema, child),
    ...(dialect.hasContains ? nameChecks(schema, child) : []),
    ...itemChecks(schema, dialect, child),
    ...(dialect.hasContains ? containsChecks(schema, dialect, child) : []),
    ...dependencyChecks(schema, dialect, child),
    ...branchChecks(schema, child),
    ...(dialect.hasConditional ? conditionChecks(schema, child) : []),
  ]
}

/** `unevaluatedProperties` and `unevaluatedItems`, which apply after all other keywords. */
export function unevaluatedOf(schema: PlainJsonObject, child: Child): readonly Check[] {
  const { unevaluatedProperties: properties, unevaluatedItems: items } = schema
  const checks: Check[] = []
  if (properties !== undefined) checks.push(unevaluatedCheck(properties, child, 'properties'))
  if (items !== undefined) checks.push(unevaluatedCheck(items, child, 'items'))
  return checks
}

function unevaluatedCheck(schema: PlainJson, child: Child, unit: 'properties' | 'items'): Check {
  const rest = restCheck(schema, child, `must NOT have unevaluated ${unit}`)
  const hasUnit = unit === 'items' ? Array.isArray : isJsonObject
  return (value, run, evaluated) => {
    if (!hasUnit(value)) return true
    const members = value as Readonly<Record<string | number, unknown>>
    for (const key of Array.isArray(value) ? value.keys() : Object.keys(members)) {
      const isLeft = members[key] !== undefined && !evaluated?.has(key)
      if (isLeft && !rest(key, members[key], run)) return false
    }
    evaluated?.addAll()
    return true
  }
}

type RestCheck = (step: string | number, value: unknown, run: ValidationRun) => boolean

/** The check of what no other keyword lists. An error about `false` is one of the object or array, which has too much. */
function restCheck(schema: PlainJson, child: Child, message: string): RestCheck {
  if (schema === false) return (_, __, run) => run.fail(message)
  const check = child(schema)
  return (step, value, run) => run.inside(step, value, check)
}

function propertyChecks(schema: PlainJsonObject, child: Child): readonly Check[] {
  const properties = new Map(keywordEntries(schema, 'properties').map(([name, property]) => [name, child(property)]))
  const patterns = keywordEntries(schema, 'patternProperties').map(([pattern, property]) => ({
    pattern: ecmaPattern(pattern),
    check: child(property),
  }))
  const { additionalProperties: additional } = schema
  const rest =
    additional === undefined ? undefined : restCheck(additional, child, 'must NOT have additional properties')
  if (properties.size === 0 && patterns.length === 0 && rest === undefined) return []
  /** Undefined if no keyword applies to the property. */
  const checkProperty = (name: string, member: unknown, run: ValidationRun): boolean | undefined => {
    const listed = properties.get(name)
    if (listed && !run.inside(name, member, listed)) return false
    let isListed = listed !== undefined
    for (const { pattern, check } of patterns) {
      if (!pattern.test(name)) continue
      isListed = true
      if (!run.inside(name, member, check)) return false
    }
    return isListed || rest?.(name, member, run)
  }
  return [
    (value, run, evaluated) => {
      if (!isJsonObject(value)) return true
      for (const name of Object.keys(value)) {
        const member = value[name]
        const isValid = member === undefined ? undefined : checkProperty(name, member, run)
        if (isValid === false) return false
        if (isValid) evaluated?.add(name)
      }
      return true
    },
  ]
}

function nameChecks({ propertyNames }: PlainJsonObject, child: Child): readonly Check[] {
  if (propertyNames === undefined) return []
  const check = child(propertyNames)
  return [
    (value, run) => {
      if (!isJsonObject(value)) return true
      const invalid = Object.keys(value).find((name) => !run.quietly(() => check(name, run, undefined)))
      return invalid === undefined || run.fail(`property name '${invalid}' must be valid`)
    },
  ]
}

function itemChecks(schema: PlainJsonObject, { hasPrefixItems }: Dialect, child: Child): readonly Check[] {
  const { items, prefixItems, additionalItems } = schema
  const list = hasPrefixItems ? prefixItems : items
  const first = Array.isArray(list) ? list.map((item: PlainJson) => child(item)) : []
  const others = hasPrefixItems || !Array.isArray(items) ? items : additionalItems
  const rest =
    others === undefined || Array.isArray(others)
      ? undefined
      : restCheck(others, child, `must NOT have more than ${first.length} items`)
  if (first.length === 0 && rest === undefined) return []
  return [
    (value, run, evaluated) => {
      if (!Array.isArray(value)) return true
      for (let index = 0; index < value.length; index += 1) {
        const check = first[index]
        if (check === undefined && rest === undefined) break
        const isValid = check ? run.inside(index, value[index], check) : rest?.(index, value[index], run)
        if (!isValid) return false
        evaluated?.add(index)
      }
      return true
    },
  ]
}

function containsChecks(schema: PlainJsonObject, dialect: Dialect, child: Child): readonly Check[] {
  const { contains, minContains, maxContains } = schema
  if (contains === undefined) return []
  const check = child(contains)
  const hasLimits = dialect.isModern && dialect.hasValidation
  const min = hasLimits && typeof minContains === 'number' ? minContains : 1
  const max = hasLimits && typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY
  return [
    (value, run, evaluated) => {
      if (!Array.isArray(value)) return true
      let count = 0
      for (const [index, item] of value.entries()) {
        if (!run.quietly(() => check(item, run, undefined))) continue
        count += 1
        // In 2019-09, `contains` evaluates no items.
        if (dialect.hasPrefixItems) evaluated?.add(index)
      }
      if (count < min) return run.fail(`must contain at least ${min} valid item(s)`)
      return count <= max || run.fail(`must contain at most ${max} valid item(s)`)
    },
  ]
}

function dependencyChecks(schema: PlainJsonObject, { isModern }: Dialect, child: Child): readonly Check[] {
  const dependent = [
    ...(isModern ? keywordEntries(schema, 'dependentSchemas') : []),
    ...keywordEntries(schema, 'dependencies'),
  ]
  return dependent
    .filter(([, needed]) => !Array.isArray(needed))
    .map(([name, needed]): Check => {
      const check = child(needed)
      return (value, run, evaluated) => !isJsonObject(value) || !hasMember(value, name) || check(value, run, evaluated)
    })
}

function branchChecks(schema: PlainJsonObject, child: Child): readonly Check[] {
  const branchesOf = (keyword: string) => {
    const branches = schema[keyword]
    return Array.isArray(branches) ? branches.map((branch: PlainJson) => child(branch)) : undefined
  }
  const [anyOf, oneOf] = [branchesOf('anyOf'), branchesOf('oneOf')]
  const { not } = schema
  const checks: Check[] = [...(branchesOf('allOf') ?? [])]
  if (anyOf) checks.push(anyCheck(anyOf))
  if (oneOf) checks.push(oneCheck(oneOf))
  if (not !== undefined) {
    const check = child(not)
    checks.push((value, run) => !run.quietly(() => check(value, run, undefined)) || run.fail('must NOT be valid'))
  }
  return checks
}

function anyCheck(branches: readonly Check[]): Check {
  return (value, run, evaluated) =>
    run.attempt(() => {
      let isValid = false
      for (const branch of branches) {
        // All valid branches evaluate properties and items.
        if (isValid && !evaluated) break
        isValid = branchCheck(branch, value, run, evaluated) || isValid
      }
      return isValid
    }) || run.fail('must match a schema in anyOf')
}

function oneCheck(branches: readonly Check[]): Check {
  return (value, run, evaluated) =>
    run.attempt(() => {
      let count = 0
      for (const branch of branches) {
        if (branchCheck(branch, value, run, evaluated)) count += 1
        if (count > 1) break
      }
      return count === 1
    }) || run.fail('must match exactly one schema in oneOf')
}

/** An invalid branch evaluates nothing. */
function branchCheck(branch: Check, value: unknown, run: ValidationRun, evaluated: Evaluated | undefined): boolean {
  if (!evaluated) return branch(value, run, undefined)
  const own = new Evaluated()
  if (!branch(value, run, own)) return false
  evaluated.addFrom(own)
  return true
}

function conditionChecks(schema: PlainJsonObject, child: Child): readonly Check[] {
  const { if: condition, else: otherwise } = schema
  if (condition === undefined) return []
  const check = child(condition)
  const [met, unmet] = [schema['then'], otherwise].map((branch) => (branch === undefined ? undefined : child(branch)))
  return [
    (value, run, evaluated) => {
      const isMet = run.quietly(() => branchCheck(check, value, run, evaluated))
      return (isMet ? met : unmet)?.(value, run, evaluated) ?? true
    },
  ]
}
