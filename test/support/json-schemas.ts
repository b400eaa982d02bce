import fc from 'fast-check'
import type { PlainJson, PlainJsonObject } from '../../src/formats/json/schema-model.ts'

/**
 * Random JSON schemas, changes that an author might make, and values that may or may not be valid. Each schema has a
 * `type`, because the registry's compatibility rules infer a missing type from the other keywords.
 */
export type Draft = 'draft-04' | 'draft-06' | 'draft-07' | '2019-09' | '2020-12'
export const DRAFTS: readonly Draft[] = ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12']

const NAMES = ['a', 'b', 'c'] as const
const small = fc.nat(3)
const scalar: fc.Arbitrary<PlainJson> = fc.constantFrom<PlainJson>(
  null,
  true,
  -1,
  0,
  1,
  2,
  3,
  6,
  1.5,
  '',
  'a',
  'ab',
  'abcd',
)

/** A random subset of the keywords, each with a random value. */
function keywords(all: Readonly<Record<string, fc.Arbitrary<PlainJson>>>): fc.Arbitrary<PlainJsonObject> {
  return fc.record(all, { requiredKeys: [] }) as fc.Arbitrary<PlainJsonObject>
}

export function jsonSchema(draft: Draft): fc.Arbitrary<PlainJsonObject> {
  const isModern = draft.startsWith('20')
  const isOld = draft === 'draft-04'
  return fc
    .letrec<{ schema: PlainJsonObject; leaf: PlainJsonObject; rest: PlainJson }>((tie) => ({
      leaf: fc.oneof(
        typed('string', keywords({ minLength: small, maxLength: small, pattern: fc.constantFrom('^a', 'b') })),
        typed('boolean'),
        typed('null'),
        ...['number', 'integer'].map((type) =>
          typed(type, keywords({ minimum: small, maximum: small, multipleOf: fc.constantFrom(1, 2, 3, 6) })),
        ),
        ...(isOld ? [] : [typed('number', keywords({ exclusiveMinimum: small, exclusiveMaximum: small })), constant]),
        fc.subarray(['a', 'ab', 1, null], { minLength: 1 }).map((values) => ({ enum: values })),
      ),
      rest: fc.oneof(fc.constant(false), tie('schema')),
      schema: fc.oneof(
        { maxDepth: 3, withCrossShrink: true },
        { weight: 3, arbitrary: tie('leaf') },
        { weight: 3, arbitrary: objectSchema(tie, isModern) },
        { weight: 1, arbitrary: arraySchema(tie, draft) },
        {
          weight: 1,
          arbitrary: fc
            .tuple(fc.constantFrom('anyOf', 'oneOf', 'allOf'), fc.array(tie('schema'), { minLength: 1, maxLength: 3 }))
            .map(([word, branches]) => ({ [word]: branches })),
        },
        { weight: 1, arbitrary: fc.record({ not: tie('schema') }) },
        {
          weight: 1,
          arbitrary: fc.record({
            type: fc.subarray(['string', 'integer', 'null'], { minLength: 1 }),
            maxLength: small,
          }),
        },
        { weight: 1, arbitrary: fc.constant({ $ref: '#/definitions/d' }) },
      ),
    }))
    .schema.chain((schema) =>
      typed(
        'object',
        keywords({
          properties: fc.record({ a: fc.constant({ $ref: '#/definitions/d' }), b: fc.constant({ type: 'string' }) }),
        }),
      ).map((d) => ({
        $schema: isModern ? `https://json-schema.org/draft/${draft}/schema` : `http://json-schema.org/${draft}/schema#`,
        ...schema,
        definitions: { d },
      })),
    )
}

type Tie = { (key: 'schema' | 'leaf'): fc.Arbitrary<PlainJsonObject>; (key: 'rest'): fc.Arbitrary<PlainJson> }

const constant = fc.constantFrom<PlainJson>('a', 1, null).map((value) => ({ const: value }))

function typed(type: string, more: fc.Arbitrary<PlainJsonObject> = fc.constant({})): fc.Arbitrary<PlainJsonObject> {
  return more.map((members) => ({ type, ...members }))
}

function objectSchema(tie: Tie, isModern: boolean): fc.Arbitrary<PlainJsonObject> {
  const needs = fc.dictionary(fc.constantFrom(...NAMES), fc.subarray([...NAMES], { minLength: 1 }), {
    maxKeys: 1,
    noNullPrototype: true,
  })
  return fc
    .tuple(
      fc.dictionary(fc.constantFrom(...NAMES), tie('schema'), { maxKeys: 3, noNullPrototype: true }),
      fc.subarray([...NAMES]),
      fc.oneof(
        { weight: 2, arbitrary: fc.constant({}) },
        keywords({ additionalProperties: tie('rest') }),
        ...(isModern ? [keywords({ unevaluatedProperties: tie('rest') })] : []),
      ),
      keywords({
        minProperties: small,
        maxProperties: small,
        [isModern ? 'dependentRequired' : 'dependencies']: needs,
      }),
    )
    .map(([properties, required, rest, more]) => {
      const needed = required.filter((name) => Object.hasOwn(properties, name))
      return { type: 'object', properties, ...(needed.length > 0 ? { required: needed } : {}), ...rest, ...more }
    })
}

function arraySchema(tie: Tie, draft: Draft): fc.Arbitrary<PlainJsonObject> {
  const [tuple, rest] = draft === '2020-12' ? ['prefixItems', 'items'] : ['items', 'additionalItems']
  const items = fc.oneof(
    fc.record({ items: tie('schema') }),
    fc
      .tuple(fc.array(tie('schema'), { minLength: 1, maxLength: 2 }), fc.option(tie('rest'), { nil: undefined }))
      .map(([schemas, other]) => ({ [tuple ?? '']: schemas, ...(other === undefined ? {} : { [rest ?? '']: other }) })),
  )
  return fc
    .tuple(items, keywords({ minItems: small, maxItems: small, uniqueItems: fc.boolean() }))
    .map(([of, more]) => ({ type: 'array', ...of, ...more }))
}

/** A schema and a changed version of it, in which one part was replaced, removed or wrapped. */
export function jsonSchemaPair(draft: Draft): fc.Arbitrary<readonly [before: PlainJsonObject, after: PlainJsonObject]> {
  const edit = fc.record({
    at: fc.nat(12),
    kind: fc.nat(4),
    other: jsonSchema(draft),
    value: fc.oneof(small, fc.constant(false)),
  })
  return fc
    .tuple(jsonSchema(draft), fc.array(edit, { minLength: 1, maxLength: 2 }), fc.boolean())
    .map(([before, edits, isWider]) => {
      const after = structuredClone(before)
      for (const { at, kind, other, value } of edits) change(after, at, kind, strip(other), value)
      return [before, isWider ? withRequired(after) : after] as const
    })
    .filter(([before, after]) => JSON.stringify(before) !== JSON.stringify(after))
}

/**
 * Adds a required property with a default, which a reader fills in. Leaves out schemas with `maxProperties` or
 * dependencies, which an added property could violate.
 */
function withRequired(schema: PlainJsonObject): PlainJsonObject {
  if (schema['type'] !== 'object' || /maxProperties|depend/.test(JSON.stringify(schema))) return schema
  const { properties, required } = schema as { properties: PlainJsonObject; required?: readonly PlainJson[] }
  return {
    ...schema,
    properties: { ...properties, c: { type: 'integer', default: 1 } },
    required: [...new Set([...(required ?? []), 'c'])],
  }
}

function strip({ $schema, definitions, ...schema }: PlainJsonObject): PlainJsonObject {
  return schema
}

type Place = { readonly holder: Record<string, PlainJson>; readonly key: string }

/** All members of all nested objects and arrays, in preorder. */
function placesIn(json: PlainJson): readonly Place[] {
  if (json === null || typeof json !== 'object') return []
  return Object.keys(json).flatMap((key) => [
    { holder: json as Record<string, PlainJson>, key },
    ...(key.startsWith('depend') ? [] : placesIn((json as PlainJsonObject)[key] ?? null)),
  ])
}

const BOUNDS = /^(min|max|exclusiveM|multipleOf)/
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'enum', 'required'])
const SCHEMAS = new Set(['additionalProperties', 'unevaluatedProperties', 'not', 'additionalItems', ...NAMES])
const FIXED = new Set(['$schema', 'definitions', 'd', 'enum', 'const', '$ref', 'items', 'prefixItems'])

function change(schema: PlainJsonObject, at: number, kind: number, other: PlainJsonObject, value: PlainJson): void {
  const places = placesIn(schema).filter(({ key }) => !FIXED.has(key) || LISTS.has(key))
  const { holder, key } = places[at % Math.max(places.length, 1)] ?? { holder: {}, key: '' }
  if (key === 'type') holder[key] = holder[key] === 'integer' ? 'number' : (holder[key] ?? null)
  else if (BOUNDS.test(key)) holder[key] = typeof value === 'number' ? value + 1 : 1
  else if (LISTS.has(key)) changeList(holder, key, kind, other)
  else if (SCHEMAS.has(key)) changeSchema(holder, key, kind, other, value)
  else changeOther(holder, key, kind, other)
}

function changeOther(holder: Record<string, PlainJson>, key: string, kind: number, other: PlainJsonObject): void {
  if (key === 'properties' && kind < 3)
    holder[key] = { ...(holder[key] as PlainJsonObject), [NAMES[kind] ?? 'a']: other }
  else if (!Array.isArray(holder)) delete holder[key]
}

function changeList(holder: Record<string, PlainJson>, key: string, kind: number, other: PlainJsonObject): void {
  const list = holder[key] as readonly PlainJson[]
  const added = key.endsWith('Of') ? other : key === 'enum' ? 'abcd' : undefined
  if (kind === 0 && added !== undefined) holder[key] = [...list, added]
  else if (kind === 1 && list.length > 1) holder[key] = list.slice(1)
  else if (kind === 2 && key.endsWith('Of')) {
    delete holder[key]
    holder['anyOf'] = list
  } else if (kind === 3) delete holder[key]
}

function changeSchema(
  holder: Record<string, PlainJson>,
  key: string,
  kind: number,
  other: PlainJsonObject,
  value: PlainJson,
): void {
  const old = holder[key] ?? {}
  if (kind === 0) delete holder[key]
  else if (kind === 1) holder[key] = other
  else if (kind === 2) holder[key] = typeof old === 'boolean' ? other : { anyOf: [old, other] }
  else if (kind === 3) holder[key] = value === false && /^(additional|unevaluated)/.test(key) ? false : {}
}

/** Values, many of which are valid for this schema. */
export function jsonValues(schema: PlainJson, definitions: PlainJsonObject, depth = 3): fc.Arbitrary<PlainJson> {
  if (depth === 0 || schema === null || typeof schema !== 'object' || Array.isArray(schema)) return anyValue
  const { type, properties, items, prefixItems, additionalItems, additionalProperties } = schema as PlainJsonObject
  const inner = (one: PlainJson | undefined) => jsonValues(one ?? true, definitions, depth - 1)
  const branches = ['anyOf', 'oneOf', 'allOf'].flatMap(
    (word) => ((schema as PlainJsonObject)[word] ?? []) as readonly PlainJson[],
  )
  if (branches.length > 0) return fc.oneof(anyValue, ...branches.map(inner))
  if ('$ref' in schema) return inner(definitions['d'])
  if ('enum' in schema) return fc.constantFrom(...(schema['enum'] as readonly PlainJson[]))
  if (type === 'object') {
    const members = Object.fromEntries(
      NAMES.map((name) => [name, inner((properties as PlainJsonObject | undefined)?.[name] ?? additionalProperties)]),
    )
    return fc.record(members, { requiredKeys: [] }) as fc.Arbitrary<PlainJson>
  }
  if (type === 'array') {
    const listed = (
      Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : []
    ) as readonly PlainJson[]
    const rest = Array.isArray(items) ? additionalItems : items
    return fc
      .tuple(fc.tuple(...listed.map(inner)), fc.array(inner(rest), { maxLength: 2 }), fc.nat(4))
      .map(([some, more, length]) => [...some, ...more].slice(0, length))
  }
  return anyValue
}

/** Any value, from so few possible ones that many are valid for a schema. */
export const anyValue: fc.Arbitrary<PlainJson> = fc.letrec<{ value: PlainJson }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    {
      weight: 1,
      arbitrary: fc.dictionary(fc.constantFrom(...NAMES), tie('value'), {
        maxKeys: 3,
        noNullPrototype: true,
      }) as fc.Arbitrary<PlainJson>,
    },
  ),
})).value
