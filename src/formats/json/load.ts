import { ecmaPattern, type Pattern } from '../../regex/pattern.ts'
import { digestOf } from './digest.ts'
import type {
  ArrayModel,
  Bound,
  Common,
  Criterion,
  Json,
  JsonObject,
  Model,
  NumberModel,
  ObjectModel,
  StringModel,
} from './model.ts'
import { Documents, type Located } from './references.ts'

/** A keyword has a value that it can't have, or a type that there is not. */
export class InvalidJsonSchema extends Error {
  override readonly name = 'InvalidJsonSchema'
}

const NESTING_MAX = 500

/**
 * Reads a schema into its model. `references` are other documents by the URI that `$ref`s name. Every `$ref` is
 * resolved before this returns: one that leads nowhere, or round in a circle, is an `InvalidJsonSchema`.
 */
export function loadJsonSchema(root: Json, references: ReadonlyMap<string, Json> = new Map()): Model {
  const loader = new Loader(new Documents(root, references))
  const model = loader.load(loader.root(), 0)
  loader.resolveAll()
  return model
}

class Loader {
  readonly #documents: Documents
  readonly #models = new Map<Json, Model>()
  readonly #unresolved: (() => Model)[] = []
  /** References that lead to something, through others or not. */
  readonly #leading = new Set<Model>()

  constructor(documents: Documents) {
    this.#documents = documents
  }

  root(): Located {
    return this.#documents.root
  }

  resolveAll(): void {
    for (let next = this.#unresolved.pop(); next; next = this.#unresolved.pop()) {
      const way = new Set<Model>()
      let target = next()
      for (; target.kind === 'reference' && !this.#leading.has(target); target = target.target()) {
        if (way.has(target)) throw new InvalidJsonSchema('$refs lead to each other only, round in a circle')
        way.add(target)
      }
      for (const one of way) this.#leading.add(one)
    }
  }

  load(at: Located, depth: number): Model {
    const { value } = at
    if (depth > NESTING_MAX) throw new InvalidJsonSchema(`nested deeper than ${NESTING_MAX}`)
    if (value === true) return { kind: 'any', ...commonOf({}, 'true') }
    if (value === false) return { kind: 'never', ...commonOf({}, 'false') }
    if (!isObject(value))
      throw new InvalidJsonSchema(`expected a schema (an object or a boolean), found ${JSON.stringify(value)}`)
    const known = this.#models.get(value)
    if (known) return known
    const model = this.#combine(value, this.#parts(at, value, depth))
    this.#models.set(value, model)
    return model
  }

  #combine(schema: JsonObject, parts: readonly Model[]): Model {
    const common = commonOf(schema, digestOf(schema))
    const [only] = parts
    if (only === undefined) return { kind: 'any', ...common }
    if (parts.length === 1) return { ...only, ...common, text: only.text }
    return { kind: 'combined', criterion: 'allOf', schemas: parts, ...common }
  }

  /** What stands side by side in one schema object, in the original's order. */
  #parts(at: Located, schema: JsonObject, depth: number): readonly Model[] {
    const reference = typeof schema['$ref'] === 'string' ? [this.#reference(at, schema['$ref'])] : []
    if (reference.length > 0 && !at.dialect.refHasSiblings) return reference
    const inner = (value: Json) => this.load({ ...at, value }, depth + 1)
    return [
      ...reference,
      ...enumPart(schema),
      ...combinedParts(schema, inner),
      ...notPart(schema, inner),
      ...constPart(schema, at),
      ...this.#typedParts(at, schema, inner),
      ...conditionalPart(schema),
    ]
  }

  #reference(at: Located, ref: string): Model {
    let target: Model | undefined
    const resolve = () => {
      target ??= this.load(this.#documents.find(ref, at), 0)
      return target
    }
    this.#unresolved.push(resolve)
    return { kind: 'reference', target: resolve, ...commonOf({}, `ref ${new URL(ref, at.base).href}`) }
  }

  #typedParts(at: Located, schema: JsonObject, inner: (value: Json) => Model): readonly Model[] {
    const { type } = schema
    const load = (name: Json) => typedModel(at, schema, name, inner)
    if (Array.isArray(type)) {
      return [
        {
          kind: 'combined',
          criterion: 'anyOf',
          schemas: type.map(load),
          ...commonOf({}, `types ${digestOf(schema)}`),
        },
      ]
    }
    if (type !== undefined) return [load(type)]
    const sniffed = Object.entries(KEYWORDS).filter(([, keywords]) =>
      keywords.some((keyword) => Object.hasOwn(schema, keyword)),
    )
    return sniffed.map(([name]) => load(name))
  }
}

/** Which type a schema without one speaks of, by its keywords. */
const KEYWORDS: Readonly<Record<'array' | 'object' | 'number' | 'string', readonly string[]>> = {
  array: [
    'items',
    'prefixItems',
    'additionalItems',
    'unevaluatedItems',
    'minItems',
    'maxItems',
    'uniqueItems',
    'contains',
  ],
  object: [
    'properties',
    'required',
    'minProperties',
    'maxProperties',
    'dependencies',
    'dependentRequired',
    'dependentSchemas',
    'patternProperties',
    'additionalProperties',
    'unevaluatedProperties',
    'propertyNames',
  ],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
}

function commonOf(schema: JsonObject, text: string): Common {
  return { hasDefault: Object.hasOwn(schema, 'default'), isConnectBytes: schema['connect.type'] === 'bytes', text }
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

function enumPart(schema: JsonObject): readonly Model[] {
  const values = schema['enum']
  return Array.isArray(values) ? [{ kind: 'enum', values, ...commonOf({}, `enum ${digestOf(values)}`) }] : []
}

function combinedParts(schema: JsonObject, inner: (value: Json) => Model): readonly Model[] {
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

function notPart(schema: JsonObject, inner: (value: Json) => Model): readonly Model[] {
  const { not } = schema
  return not === undefined ? [] : [{ kind: 'not', schema: inner(not), ...commonOf({}, `not ${digestOf(not)}`) }]
}

function constPart(schema: JsonObject, { dialect }: Located): readonly Model[] {
  const value = dialect.hasConst ? schema['const'] : undefined
  return value === undefined ? [] : [{ kind: 'const', value, ...commonOf({}, `const ${digestOf(value)}`) }]
}

function conditionalPart(schema: JsonObject): readonly Model[] {
  const has = ['if', 'then', 'else'].some((keyword) => Object.hasOwn(schema, keyword))
  return has ? [{ kind: 'conditional', ...commonOf({}, 'conditional') }] : []
}

function typedModel(at: Located, schema: JsonObject, type: Json, inner: (value: Json) => Model): Model {
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
        `there is no type ${JSON.stringify(type)}: expected string, number, integer, object, array, boolean or null`,
      )
  }
}

type Own<T> = Omit<T, keyof Common | 'kind'>

function bound(schema: JsonObject, keyword: string): Bound {
  const value = schema[keyword]
  return typeof value === 'number' ? value : undefined
}

function stringOf(schema: JsonObject): Own<StringModel> {
  const { pattern } = schema
  return {
    minLength: bound(schema, 'minLength'),
    maxLength: bound(schema, 'maxLength'),
    pattern: typeof pattern === 'string' ? pattern : undefined,
  }
}

function numberOf(schema: JsonObject): Omit<Own<NumberModel>, 'integer'> {
  return {
    minimum: bound(schema, 'minimum'),
    maximum: bound(schema, 'maximum'),
    exclusiveMinimum: bound(schema, 'exclusiveMinimum'),
    exclusiveMaximum: bound(schema, 'exclusiveMaximum'),
    multipleOf: bound(schema, 'multipleOf'),
  }
}

function membersOf(schema: JsonObject, keyword: string): readonly (readonly [string, Json])[] {
  const members = schema[keyword]
  return isObject(members) ? Object.entries(members) : []
}

/** `true` says nothing: it counts as absent. */
function restOf(value: Json | undefined, inner: (value: Json) => Model): Model | undefined {
  return value === undefined || value === true ? undefined : inner(value)
}

function objectOf({ dialect }: Located, schema: JsonObject, inner: (value: Json) => Model): Own<ObjectModel> {
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

/** An expression that only Java understands matches nothing here. */
function expression(pattern: string): Pattern {
  try {
    return ecmaPattern(pattern)
  } catch {
    return NOTHING
  }
}

const NOTHING = ecmaPattern('[]')

function arrayOf({ dialect }: Located, schema: JsonObject, inner: (value: Json) => Model): Own<ArrayModel> {
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
  readonly tuple: readonly Json[]
  readonly items: Json | undefined
  readonly additional: Json | undefined
}

/** Both ways of listing items, as one. */
function itemsOf(schema: JsonObject, hasPrefixItems: boolean): Items {
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
