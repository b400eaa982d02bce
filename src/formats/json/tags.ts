import { isObject, type Json, type JsonObject } from '../json-text.ts'
import { changeTagsIn, entityKey, type TagChange, type TaggableNode } from '../tags.ts'

/** The kinds of criteria of a schema, in the order in which Confluent's registry numbers them. */
const KINDS = [
  'array',
  'boolean',
  'combined',
  'conditional',
  'const',
  'enum',
  'not',
  'null',
  'number',
  'object',
] as const
type Kind = (typeof KINDS)[number] | 'reference' | 'string' | 'any'
const ORDER: readonly Kind[] = [...KINDS, 'reference', 'string', 'any']

const TYPES: Readonly<Record<string, Kind>> = {
  array: 'array',
  boolean: 'boolean',
  integer: 'number',
  null: 'null',
  number: 'number',
  object: 'object',
  string: 'string',
}
const COMBINED = ['allOf', 'anyOf', 'oneOf'] as const
const WITHOUT_TYPE: readonly (readonly [member: string, kind: Kind])[] = [
  ['properties', 'object'],
  ['items', 'array'],
]

/** One criterion of a schema. `inside` yields the entities in it, with paths below `scope`. */
type Criterion = { readonly kind: Kind; readonly inside: (scope: string, isField: boolean) => Generator<TaggableNode> }

/**
 * Yields every object and every property of a schema, with the paths of Confluent's registry: `object.a`,
 * `object.b.array.object.c`, `oneof.1.object.d`. Several criteria in one schema are an `allof`, several types an
 * `anyof`.
 */
export function* jsonEntities(node: Json | undefined, scope = '', isField = false): Generator<TaggableNode> {
  if (!isObject(node)) return
  const criteria = criteriaOf(node)
  const [only] = criteria
  if (only && criteria.length === 1) return yield* only.inside(scope, isField)
  for (const [at, criterion] of inOrder(criteria).entries()) yield* criterion.inside(`${scope}allof.${at}.`, isField)
}

/** Changes the tags of a schema in place. Throws a `SchemaError` for a path that does not exist. */
export function tagJson(root: Json, change: TagChange): void {
  changeTagsIn(change, new Map([...jsonEntities(root)].map((entity) => [entityKey(entity), entity.node])))
}

function criteriaOf(node: JsonObject): readonly Criterion[] {
  if (node.has('$ref')) return [{ kind: 'reference', inside: nothing }]
  return [
    ...COMBINED.filter((word) => Array.isArray(node.get(word))).map((word) => combined(node, word)),
    ...(node.has('if') ? [{ kind: 'conditional', inside: (scope: string) => conditional(node, scope) } as const] : []),
    ...(['const', 'enum'] as const).filter((word) => node.has(word)).map((kind) => ({ kind, inside: nothing })),
    ...(node.has('not')
      ? [{ kind: 'not', inside: (scope: string) => jsonEntities(node.get('not'), `${scope}not.`) } as const]
      : []),
    ...typed(node),
  ]
}

function typed(node: JsonObject): readonly Criterion[] {
  const type = node.get('type')
  if (Array.isArray(type)) {
    const types = inOrder((type as readonly Json[]).map((word) => ofKind(node, TYPES[String(word)] ?? 'any')))
    if (types.length === 1) return types
    function* inside(scope: string, isField: boolean): Generator<TaggableNode> {
      for (const [at, one] of types.entries()) yield* one.inside(`${scope}anyof.${at}.`, isField)
    }
    return [{ kind: 'combined', inside }]
  }
  const kind = typeof type === 'string' ? TYPES[type] : WITHOUT_TYPE.find(([member]) => node.has(member))?.[1]
  return kind === undefined ? [] : [ofKind(node, kind)]
}

function ofKind(node: JsonObject, kind: Kind): Criterion {
  if (kind === 'object') return { kind, inside: (scope, isField) => objectEntities(node, scope, isField) }
  if (kind === 'array') return { kind, inside: (scope) => jsonEntities(node.get('items'), `${scope}array.`) }
  return { kind, inside: nothing }
}

/** A property with an object schema is a field, not a record. */
function* objectEntities(node: JsonObject, scope: string, isField: boolean): Generator<TaggableNode> {
  const path = `${scope}object`
  if (!isField) yield { entityPath: path, entityType: 'sr_record', node }
  for (const [name, property] of membersOf(node.get('properties'))) {
    const entityPath = `${path}.${name}`
    if (isObject(property)) yield { entityPath, entityType: 'sr_field', node: property }
    yield* jsonEntities(property, `${entityPath}.`, true)
  }
  for (const word of ['definitions', '$defs']) {
    for (const [name, definition] of membersOf(node.get(word))) {
      yield* jsonEntities(definition, `${path}.${word}.${name}.`)
    }
  }
}

function combined(node: JsonObject, word: (typeof COMBINED)[number]): Criterion {
  function* inside(scope: string): Generator<TaggableNode> {
    const schemas = (node.get(word) as readonly Json[]).map((schema) => ({ schema, kind: kindOf(schema) }))
    for (const [at, { schema }] of inOrder(schemas).entries()) {
      yield* jsonEntities(schema, `${scope}${word.toLowerCase()}.${at}.`)
    }
  }
  return { kind: 'combined', inside }
}

function* conditional(node: JsonObject, scope: string): Generator<TaggableNode> {
  for (const word of ['if', 'then', 'else']) yield* jsonEntities(node.get(word), `${scope}conditional.${word}.`)
}

function* nothing(): Generator<TaggableNode> {}

function kindOf(schema: Json): Kind {
  const criteria = isObject(schema) ? criteriaOf(schema) : []
  return criteria.length > 1 ? 'combined' : (criteria[0]?.kind ?? 'any')
}

/** Sorts by kind. Items of the same kind keep their order; Confluent's registry also compares titles and members. */
function inOrder<Item extends { readonly kind: Kind }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
}

/** Empty if the value is not an object. */
function membersOf(value: Json | undefined): readonly (readonly [name: string, value: Json])[] {
  return isObject(value) ? [...value] : []
}
