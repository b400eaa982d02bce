import { ecmaPattern } from '../../regex/pattern.ts'
import type { Dialect } from './dialect.ts'
import type { PlainJson, PlainJsonObject } from './schema-model.ts'
import type { Check } from './validation-run.ts'
import { digestOf } from './value-digest.ts'

/** The checks of the keywords that have no subschemas. A keyword whose value is malformed restricts nothing. */
export function assertionsOf(schema: PlainJsonObject, dialect: Dialect): readonly Check[] {
  return [
    ...typeChecks(schema),
    ...constantChecks(schema, dialect),
    ...boundChecks(schema, dialect),
    ...textChecks(schema),
    ...sizeChecks(schema),
    ...requiredChecks(schema, dialect),
  ]
}

const HAS_TYPE: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  null: (value) => value === null,
  number: (value) => typeof value === 'number' && Number.isFinite(value),
  object: isJsonObject,
  string: (value) => typeof value === 'string',
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Members with the value undefined are absent, as in JSON. */
export function hasMember(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined
}

function typeChecks({ type }: PlainJsonObject): readonly Check[] {
  if (type === undefined) return []
  const names = [type].flat().map(String)
  const tests = names.flatMap((name) => (Object.hasOwn(HAS_TYPE, name) ? [HAS_TYPE[name]!] : []))
  const [only] = tests
  if (only !== undefined && tests.length === 1)
    return [(value, run) => only(value) || run.fail(`must be ${names.join()}`)]
  return [(value, run) => tests.some((test) => test(value)) || run.fail(`must be ${names.join()}`)]
}

const NAMED_VALUES_MAX = 100

function constantChecks(schema: PlainJsonObject, { hasConst }: Dialect): readonly Check[] {
  const values = schema['enum']
  const checks: Check[] = []
  if (Array.isArray(values)) {
    const listed = values.map((value: PlainJson) => (typeof value === 'string' ? value : JSON.stringify(value)))
    const named = [...listed.slice(0, NAMED_VALUES_MAX), ...(listed.length > NAMED_VALUES_MAX ? ['…'] : [])]
    checks.push(oneOfValues(values, `must be equal to one of the allowed values: ${named.join(', ')}`))
  }
  const constant = hasConst ? schema['const'] : undefined
  if (constant !== undefined) checks.push(oneOfValues([constant], 'must be equal to constant'))
  return checks
}

function oneOfValues(values: readonly PlainJson[], message: string): Check {
  const digests = new Set(values.map(digestOf))
  const hasObjects = values.some((value) => typeof value === 'object' && value !== null)
  return (value, run) => {
    const isPrimitive = typeof value !== 'object' || value === null
    return ((isPrimitive || hasObjects) && digests.has(digestOf(value as PlainJson))) || run.fail(message)
  }
}

function number(schema: PlainJsonObject, keyword: string): number | undefined {
  const value = schema[keyword]
  return typeof value === 'number' ? value : undefined
}

type Comparison = readonly [sign: string, isMet: (value: number, bound: number) => boolean]
const AT_LEAST: Comparison = ['>=', (value, bound) => value >= bound]
const AT_MOST: Comparison = ['<=', (value, bound) => value <= bound]
const MORE: Comparison = ['>', (value, bound) => value > bound]
const LESS: Comparison = ['<', (value, bound) => value < bound]

function boundChecks(schema: PlainJsonObject, { draft }: Dialect): readonly Check[] {
  const bounds: readonly (readonly [number | undefined, Comparison])[] = [
    [number(schema, 'minimum'), draft === 'draft-04' && schema['exclusiveMinimum'] === true ? MORE : AT_LEAST],
    [number(schema, 'maximum'), draft === 'draft-04' && schema['exclusiveMaximum'] === true ? LESS : AT_MOST],
    [number(schema, 'exclusiveMinimum'), MORE],
    [number(schema, 'exclusiveMaximum'), LESS],
  ]
  const checks = bounds.flatMap(([bound, [sign, isMet]]): readonly Check[] =>
    bound === undefined
      ? []
      : [(value, run) => typeof value !== 'number' || isMet(value, bound) || run.fail(`must be ${sign} ${bound}`)],
  )
  const divisor = number(schema, 'multipleOf')
  if (divisor === undefined || divisor <= 0) return checks
  const isMultiple = multipleTest(divisor)
  return [
    ...checks,
    (value, run) => typeof value !== 'number' || isMultiple(value) || run.fail(`must be multiple of ${divisor}`),
  ]
}

/** An integer below it is exact as a double with any number of decimals: 10^15 has fewer digits than a double. */
const EXACT_MAX = 1e15
/** Powers of ten are exact as doubles up to this one. */
const EXACT_POWER_MAX = 22

/** Computes with decimals, as Java: in binary fractions, 19.99 is no multiple of 0.01. */
function multipleTest(divisor: number): (value: number) => boolean {
  const by = decimal(divisor)
  const decimals = Math.max(0, -by.exponent)
  const power = 10 ** decimals
  const units = Math.round(divisor * power)
  const isSmall = decimals <= EXACT_POWER_MAX && units < EXACT_MAX
  return (value) => {
    if (!Number.isFinite(value)) return false
    const rounded = Math.round(value * power)
    // Otherwise the value has more decimals than each multiple.
    if (isSmall && Math.abs(rounded) < EXACT_MAX) return rounded / power === value && rounded % units === 0
    const dividend = decimal(value)
    const scale = Math.min(dividend.exponent, by.exponent)
    const scaled = ({ digits, exponent }: Decimal) => digits * 10n ** BigInt(exponent - scale)
    return scaled(dividend) % scaled(by) === 0n
  }
}

type Decimal = { readonly digits: bigint; readonly exponent: number }

function decimal(value: number): Decimal {
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(`${whole}${fraction}`), exponent: Number(exponent) - fraction.length }
}

function textChecks(schema: PlainJsonObject): readonly Check[] {
  const { pattern } = schema
  const checks = limitChecks(schema, 'Length', 'characters', (value) =>
    typeof value === 'string' ? charactersIn(value) : undefined,
  )
  if (typeof pattern !== 'string') return checks
  const expression = ecmaPattern(pattern)
  return [
    ...checks,
    (value, run) => typeof value !== 'string' || expression.test(value) || run.fail(`must match pattern "${pattern}"`),
  ]
}

/** Surrogate pairs are one character. */
function charactersIn(text: string): number {
  let characters = text.length
  for (let at = 0; at < text.length - 1; at += 1) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
    if (isPair) characters -= 1
  }
  return characters
}

function sizeChecks(schema: PlainJsonObject): readonly Check[] {
  const checks = [
    ...limitChecks(schema, 'Items', 'items', (value) => (Array.isArray(value) ? value.length : undefined)),
    ...limitChecks(schema, 'Properties', 'properties', (value) =>
      isJsonObject(value) ? Object.values(value).filter((member) => member !== undefined).length : undefined,
    ),
  ]
  if (schema['uniqueItems'] !== true) return checks
  // Digests, because an array can have 100,000 items: comparing each pair takes too long.
  const isUnique = (items: readonly PlainJson[]) => new Set(items.map(digestOf)).size === items.length
  return [
    ...checks,
    (value, run) =>
      !Array.isArray(value) || isUnique(value as readonly PlainJson[]) || run.fail('must NOT have duplicate items'),
  ]
}

/** `min…` and `max…` of a size, which is undefined for values that do not have it. */
function limitChecks(
  schema: PlainJsonObject,
  keyword: string,
  unit: string,
  sizeOf: (value: unknown) => number | undefined,
): readonly Check[] {
  const [min, max] = [number(schema, `min${keyword}`), number(schema, `max${keyword}`)]
  if (min === undefined && max === undefined) return []
  return [
    (value, run) => {
      const size = sizeOf(value)
      if (size === undefined) return true
      if (min !== undefined && size < min) return run.fail(`must NOT have fewer than ${min} ${unit}`)
      return max === undefined || size <= max || run.fail(`must NOT have more than ${max} ${unit}`)
    },
  ]
}

function requiredChecks(schema: PlainJsonObject, { isModern }: Dialect): readonly Check[] {
  const { required } = schema
  const names = Array.isArray(required) ? required.map(String) : []
  const isRequired: Check = (value, run) => {
    if (!isJsonObject(value)) return true
    const missing = names.find((name) => !hasMember(value, name))
    return missing === undefined || run.fail(`must have required property '${missing}'`)
  }
  const dependent = [
    ...(isModern ? keywordEntries(schema, 'dependentRequired') : []),
    ...keywordEntries(schema, 'dependencies'),
  ]
  const conditions = dependent.flatMap(([name, needed]) =>
    Array.isArray(needed) ? [{ name, needed: needed.map(String) }] : [],
  )
  const isDependency: Check = (value, run) => {
    if (!isJsonObject(value)) return true
    for (const { name, needed } of conditions) {
      const missing = hasMember(value, name) ? needed.find((one) => !hasMember(value, one)) : undefined
      if (missing !== undefined) return run.fail(`must have property ${missing} when property ${name} is present`)
    }
    return true
  }
  return [...(names.length > 0 ? [isRequired] : []), ...(conditions.length > 0 ? [isDependency] : [])]
}

export function keywordEntries(schema: PlainJsonObject, keyword: string): readonly (readonly [string, PlainJson])[] {
  const members = schema[keyword]
  return isJsonObject(members) ? Object.entries(members as PlainJsonObject) : []
}
