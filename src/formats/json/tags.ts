import { isObject, type Json, type JsonObject } from '../json-text.ts'
import { changeTagsIn, entityKey, type TagChange, type TaggableNode } from '../tags.ts'

/** What a schema says of its values, one criterion a kind, in the order in which the original counts them. */
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

/** One of the criteria of a schema: what lies within, below `scope`. */
type Criterion = { readonly kind: Kind; readonly inside: (scope: string, isField: boolean) => Generator<TaggableNode> }

/**
 * Every object and every property of a schema, by the paths that the original gives them: `object.a`, `object.b.array.object.c`,
 * `oneof.1.object.d`. Several criteria of one schema count as an `allof`, several types as an `anyof`.
 */
export function* jsonEntities(node: Json | undefined, scope = '', isField = false): Generator<TaggableNode> {
  if (!isObject(node)) return
  const criteria = criteriaOf(node)
  const [only] = criteria
  if (only && criteria.length === 1) return yield* only.inside(scope, isField)
  for (const [at, criterion] of inOrder(criteria).entries()) yield* criterion.inside(`${scope}allof.${at}.`, isField)
}

/** The schema with other tags; the tree has to be nobody else's. */
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

/** A property that is an object is tagged as a property. */
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

/** Of one kind in the order in which they are written, where the original goes on to compare titles and members. */
function inOrder<Item extends { readonly kind: Kind }>(items: readonly Item[]): readonly Item[] {
  return items.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
}

/** None where it is no object. */
function membersOf(value: Json | undefined): readonly (readonly [name: string, value: Json])[] {
  return isObject(value) ? [...value] : []
}
