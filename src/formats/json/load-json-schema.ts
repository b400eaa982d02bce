import { javaSyntaxError } from '../../regex/java-syntax.ts'
import { ecmaPattern, type Pattern } from '../../regex/pattern.ts'
import type { Dialect } from './dialect.ts'
import type { Reference, SchemaLocation } from './schema-location.ts'
import type {
  ArrayModel,
  Bound,
  Common,
  Criterion,
  Model,
  NumberModel,
  ObjectModel,
  PlainJson,
  PlainJsonObject,
  StringModel,
} from './schema-model.ts'
import { digestOf } from './value-digest.ts'

/** Thrown for a keyword with an invalid value and for an unknown type. */
export class InvalidJsonSchema extends Error {
  override readonly name = 'InvalidJsonSchema'
}

const NESTING_MAX = 500

export type LoadOptions = {
  /** Also loads the subschemas that comparisons ignore, and checks the syntax of patterns. Used for new schemas. */
  readonly strict?: boolean
}

/**
 * Loads a schema into a model. Throws `InvalidJsonSchema` for an invalid keyword and for circular `$ref`s, and
 * `UnresolvedReference` for a `$ref` whose target does not exist.
 */
export function loadJsonSchema(root: SchemaLocation, { strict = false }: LoadOptions = {}): Model {
  const loader = new Loader(strict)
  const model = loader.load(root, 0)
  loader.resolveAll()
  return model
}

class Loader {
  readonly #strict: boolean
  /** By scope and schema. */
  readonly #models = new Map<string, Map<PlainJson, Model>>()
  readonly #unresolved: (() => Model)[] = []
  /** The references that are known to resolve to a schema, directly or through other references. */
  readonly #leading = new Set<Model>()

  constructor(strict: boolean) {
    this.#strict = strict
  }

  resolveAll(): void {
    for (let next = this.#unresolved.pop(); next; next = this.#unresolved.pop()) {
      const way = new Set<Model>()
      let target = next()
      for (; target.kind === 'reference' && !this.#leading.has(target); target = target.target()) {
        if (way.has(target)) throw new InvalidJsonSchema('circular $ref without a schema')
        way.add(target)
      }
      for (const one of way) this.#leading.add(one)
    }
  }

  load(at: SchemaLocation, depth: number): Model {
    const { value } = at
    if (depth > NESTING_MAX) throw new InvalidJsonSchema(`nested deeper than ${NESTING_MAX}`)
    if (value === true) return { kind: 'any', ...commonOf({}, 'true') }
    if (value === false) return { kind: 'never', ...commonOf({}, 'false') }
    if (!isObject(value))
      throw new InvalidJsonSchema(`expected a schema (an object or a boolean), found ${JSON.stringify(value)}`)
    const models = this.#models.get(at.scope) ?? new Map<PlainJson, Model>()
    const known = models.get(value)
    if (known) return known
    const model = this.#combine(value, this.#parts(at, value, depth))
    this.#models.set(at.scope, models.set(value, model))
    return model
  }

  #combine(schema: PlainJsonObject, parts: readonly Model[]): Model {
    const common = commonOf(schema, digestOf(schema))
    const [only] = parts
    if (only === undefined) return { kind: 'any', ...common }
    if (parts.length === 1) return { ...only, ...common, text: only.text }
    return { kind: 'combined', criterion: 'allOf', schemas: parts, ...common }
  }

  /** The parts of one schema object, all of which apply, in the order of Confluent's registry. */
  #parts(at: SchemaLocation, schema: PlainJsonObject, depth: number): readonly Model[] {
    const references = at.references.map((reference) => this.#reference(reference))
    if (references.length > 0 && !at.dialect.refHasSiblings) return references
    const inner = (value: PlainJson) => this.load(at.child(value), depth + 1)
    if (this.#strict) this.#checkUnmodelled(at, schema, inner)
    return [
      ...references,
      ...enumPart(schema),
      ...combinedParts(schema, inner),
      ...notPart(schema, inner),
      ...constPart(schema, at),
      ...this.#typedParts(at, schema, inner),
      ...conditionalPart(schema, at),
    ]
  }

  /**
   * Checks the subschemas that the model omits but Confluent's registry loads: a `$ref` in them must have a target.
   * Also rejects patterns that are invalid in Java, as Confluent's registry does.
   */
  #checkUnmodelled(at: SchemaLocation, schema: PlainJsonObject, inner: (value: PlainJson) => Model): void {
    const { dialect } = at
    const { pattern } = schema
    const expressions = membersOf(schema, 'patternProperties').map(([expression]) => expression)
    for (const expression of typeof pattern === 'string' ? [...expressions, pattern] : expressions) {
      const reason = javaSyntaxError(expression)
      if (reason !== undefined) throw new InvalidJsonSchema(`the pattern '${expression}' is invalid: ${reason}`)
    }
    const keywords = [
      ...(dialect.hasContains ? ['contains', 'propertyNames'] : []),
      ...conditionalKeywords(dialect, schema),
    ]
    for (const value of keywords.map((keyword) => schema[keyword])) if (value !== undefined) inner(value)
    if (!dialect.isModern) return
    for (const [, definition] of membersOf(schema, '$defs')) inner(definition)
  }

  #reference({ uri, find }: Reference): Model {
    let target: Model | undefined
    const resolve = () => {
      target ??= this.load(find(), 0)
      return target
    }
    this.#unresolved.push(resolve)
    return { kind: 'reference', target: resolve, ...commonOf({}, `ref ${uri}`) }
  }

  /** Returns one part for the types that `type` names, and one for each other type that has keywords in this schema. */
  #typedParts(at: SchemaLocation, schema: PlainJsonObject, inner: (value: PlainJson) => Model): readonly Model[] {
    const { type } = schema
    const load = (name: PlainJson) => typedModel(at, schema, name, inner)
    const named = type === undefined ? [] : Array.isArray(type) ? type : [type]
    const isCovered = (name: string) => named.some((one) => one === name || (one === 'integer' && name === 'number'))
    const others = Object.entries(keywordsOf(at.dialect)).filter(
      ([name, keywords]) => !isCovered(name) && keywords.some((keyword) => Object.hasOwn(schema, keyword)),
    )
    const list: Model = {
      kind: 'combined',
      criterion: 'anyOf',
      schemas: named.map(load),
      ...commonOf({}, `types ${digestOf(schema)}`),
    }
    return [...(Array.isArray(type) ? [list] : named.map(load)), ...others.map(([name]) => load(name))]
  }
}

/**
 * The keywords of each type. Keywords of a type that is not in `type` still restrict values of that type, so
 * Confluent's registry loads `{type: boolean, maxLength: 5}` as a boolean schema and a string schema.
 */
function keywordsOf(dialect: Dialect): Readonly<Record<'array' | 'object' | 'number' | 'string', readonly string[]>> {
  const { isModern, hasPrefixItems } = dialect
  const since = (draft: boolean, ...keywords: readonly string[]) => (draft ? keywords : [])
  return {
    array: [
      ...['items', 'minItems', 'maxItems', 'uniqueItems'],
      ...since(dialect.hasContains, 'contains'),
      ...since(hasPrefixItems, 'prefixItems'),
      ...since(!hasPrefixItems, 'additionalItems'),
      ...since(isModern, 'unevaluatedItems'),
    ],
    object: [
      ...['properties', 'required', 'minProperties', 'maxProperties', 'patternProperties', 'additionalProperties'],
      ...since(dialect.hasContains, 'propertyNames'),
      ...since(isModern, 'dependentRequired', 'dependentSchemas', 'unevaluatedProperties'),
      ...since(!isModern, 'dependencies'),
    ],
    number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    string: ['minLength', 'maxLength', 'pattern', ...since(!isModern, 'format')],
  }
}

/** Before 2019-09 each of the three keywords is loaded; from 2019-09 only together with `if`. */
function conditionalKeywords({ hasConditional, isModern }: Dialect, schema: PlainJsonObject): readonly string[] {
  const isRead = hasConditional && (!isModern || Object.hasOwn(schema, 'if'))
  return isRead ? ['if', 'then', 'else'].filter((keyword) => Object.hasOwn(schema, keyword)) : []
}

function commonOf(schema: PlainJsonObject, text: string): Common {
  return { hasDefault: Object.hasOwn(schema, 'default'), isConnectBytes: schema['connect.type'] === 'bytes', text }
}

function isObject(value: PlainJson | undefined): value is PlainJsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function enumPart(schema: PlainJsonObject): readonly Model[] {
  const values = schema['enum']
  return Array.isArray(values) ? [{ kind: 'enum', values, ...commonOf({}, `enum ${digestOf(values)}`) }] : []
}

function combinedParts(schema: PlainJsonObject, inner: (value: PlainJson) => Model): readonly Model[] {
  return (['allOf', 'anyOf', 'oneOf'] as const).flatMap((criterion: Criterion): readonly Model[] => {
    const branches = schema[criterion]
    if (!Array.isArray(branches)) return []
    return [
      {
        kind: 'combined',
        criterion,
        schemas: branches.map(inner),
        ...commonOf({}, `${criterion} ${digestOf(branches)}`),
      },
    ]
  })
}

function notPart(schema: PlainJsonObject, inner: (value: PlainJson) => Model): readonly Model[] {
  const { not } = schema
  return not === undefined ? [] : [{ kind: 'not', schema: inner(not), ...commonOf({}, `not ${digestOf(not)}`) }]
}

function constPart(schema: PlainJsonObject, { dialect }: SchemaLocation): readonly Model[] {
  const value = dialect.hasConst ? schema['const'] : undefined
  return value === undefined ? [] : [{ kind: 'const', value, ...commonOf({}, `const ${digestOf(value)}`) }]
}

function conditionalPart(schema: PlainJsonObject, { dialect }: SchemaLocation): readonly Model[] {
  const has = conditionalKeywords(dialect, schema).length > 0
  return has ? [{ kind: 'conditional', ...commonOf({}, 'conditional') }] : []
}

function typedModel(
  at: SchemaLocation,
  schema: PlainJsonObject,
  type: PlainJson,
  inner: (value: PlainJson) => Model,
): Model {
  const common = commonOf({}, `${String(type)} ${digestOf(schema)}`)
  switch (type) {
    case 'string':
      return { kind: 'string', ...stringOf(schema), ...common }
    case 'number':
    case 'integer':
      return { kind: 'number', integer: type === 'integer', ...numberOf(schema), ...common }
    case 'object':
      return { kind: 'object', ...objectOf(at, schema, inner), ...common }
    case 'array':
      return { kind: 'array', ...arrayOf(at, schema, inner), ...common }
    case 'boolean':
    case 'null':
      return { kind: type, ...common }
    default:
      throw new InvalidJsonSchema(
        `unknown type ${JSON.stringify(type)}: expected string, number, integer, object, array, boolean or null`,
      )
  }
}

type Own<T> = Omit<T, keyof Common | 'kind'>

function bound(schema: PlainJsonObject, keyword: string): Bound {
  const value = schema[keyword]
  return typeof value === 'number' ? value : undefined
}

function stringOf(schema: PlainJsonObject): Own<StringModel> {
  const { pattern } = schema
  return {
    minLength: bound(schema, 'minLength'),
    maxLength: bound(schema, 'maxLength'),
    pattern: typeof pattern === 'string' ? pattern : undefined,
  }
}

function numberOf(schema: PlainJsonObject): Omit<Own<NumberModel>, 'integer'> {
  return {
    minimum: bound(schema, 'minimum'),
    maximum: bound(schema, 'maximum'),
    exclusiveMinimum: bound(schema, 'exclusiveMinimum'),
    exclusiveMaximum: bound(schema, 'exclusiveMaximum'),
    multipleOf: bound(schema, 'multipleOf'),
  }
}

function membersOf(schema: PlainJsonObject, keyword: string): readonly (readonly [string, PlainJson])[] {
  const members = schema[keyword]
  return isObject(members) ? Object.entries(members) : []
}

/** `true` is handled as absent, because it allows everything. */
function restOf(value: PlainJson | undefined, inner: (value: PlainJson) => Model): Model | undefined {
  return value === undefined || value === true ? undefined : inner(value)
}

function objectOf(
  { dialect }: SchemaLocation,
  schema: PlainJsonObject,
  inner: (value: PlainJson) => Model,
): Own<ObjectModel> {
  const dependencies = membersOf(schema, dialect.isModern ? 'dependentRequired' : 'dependencies')
  const schemas = dialect.isModern ? membersOf(schema, 'dependentSchemas') : dependencies
  const { required } = schema
  return {
    properties: new Map(membersOf(schema, 'properties').map(([name, value]) => [name, inner(value)])),
    patterns: membersOf(schema, 'patternProperties').map(([pattern, value]) => ({
      pattern: expression(pattern),
      schema: inner(value),
    })),
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    minProperties: bound(schema, 'minProperties'),
    maxProperties: bound(schema, 'maxProperties'),
    requiredBy: new Map(
      dependencies.flatMap(([name, value]) => (Array.isArray(value) ? [[name, new Set(value.map(String))]] : [])),
    ),
    schemaBy: new Map(schemas.flatMap(([name, value]) => (Array.isArray(value) ? [] : [[name, inner(value)]]))),
    additional: restOf(schema['additionalProperties'], inner),
    unevaluated: dialect.isModern ? restOf(schema['unevaluatedProperties'], inner) : undefined,
  }
}

/** Compiles a pattern. A pattern that is valid only in Java matches nothing. */
function expression(pattern: string): Pattern {
  try {
    return ecmaPattern(pattern)
  } catch {
    return NOTHING
  }
}

const NOTHING = ecmaPattern('[]')

function arrayOf(
  { dialect }: SchemaLocation,
  schema: PlainJsonObject,
  inner: (value: PlainJson) => Model,
): Own<ArrayModel> {
  const { tuple, items, additional } = itemsOf(schema, dialect.hasPrefixItems)
  const minContains = dialect.isModern && schema['contains'] !== undefined ? 1 : undefined
  return {
    tuple: tuple.map(inner),
    items: restOf(items, inner),
    additional: restOf(additional, inner),
    unevaluated: dialect.isModern ? restOf(schema['unevaluatedItems'], inner) : undefined,
    minItems: bound(schema, 'minItems'),
    maxItems: bound(schema, 'maxItems'),
    minContains: bound(schema, 'minContains') ?? minContains,
    maxContains: bound(schema, 'maxContains'),
    uniqueItems: schema['uniqueItems'] === true,
  }
}

type Items = {
  readonly tuple: readonly PlainJson[]
  readonly items: PlainJson | undefined
  readonly additional: PlainJson | undefined
}

/** Unifies the two notations for tuples: `prefixItems` and an array in `items`. */
function itemsOf(schema: PlainJsonObject, hasPrefixItems: boolean): Items {
  const { items, prefixItems, additionalItems } = schema
  if (hasPrefixItems) {
    const tuple = Array.isArray(prefixItems) ? prefixItems : []
    return tuple.length > 0 || items === false
      ? { tuple, items: undefined, additional: items }
      : { tuple, items, additional: undefined }
  }
  if (Array.isArray(items)) return { tuple: items, items: undefined, additional: additionalItems }
  return { tuple: [], items, additional: additionalItems }
}
