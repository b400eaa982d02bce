import fc from 'fast-check'

/** Random Avro schemas as JSON: small, valid, with names from few letters so that two of them have much in common. */

type Json = unknown

const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const

const enumeration = fc
  .tuple(fc.constantFrom('E', 'F'), fc.subarray(['A', 'B', 'C'], { minLength: 1 }), fc.boolean())
  .map(([name, symbols, hasDefault]) => ({
    type: 'enum',
    name,
    symbols,
    ...(hasDefault ? { default: symbols[0] } : {}),
  }))

/** Valid on its own: each named type is defined once, every union has different branches. */
export const avroSchema: fc.Arbitrary<Json> = fc
  .letrec<{ schema: Json; branch: Json }>((tie) => ({
    branch: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom(...PRIMITIVES),
      fc.record({ type: fc.constant('array'), items: tie('schema') }),
      fc.record({ type: fc.constant('map'), values: tie('schema') }),
      fc.record({ type: fc.constant('fixed'), name: fc.constantFrom('F', 'G'), size: fc.constantFrom(2, 4) }),
      enumeration,
      record(tie('schema')),
    ),
    schema: fc.oneof({ weight: 4, arbitrary: tie('branch') }, { weight: 1, arbitrary: union(tie('branch')) }),
  }))
  .schema.map((schema) => define(schema, new Set()))

function record(schema: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  const field = fc
    .tuple(fc.constantFrom('a', 'b', 'c'), schema, fc.boolean(), fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 4 }))
    .map(([name, type, hasDefault, alias]) => ({
      name,
      type,
      ...(hasDefault ? defaultOf(type) : {}),
      ...(alias === null || alias === name ? {} : { aliases: [alias] }),
    }))
  return fc
    .tuple(fc.constantFrom('R', 'S'), fc.uniqueArray(field, { selector: ({ name }) => name, maxLength: 3 }))
    .map(([name, fields]) => ({ type: 'record', name, fields }))
}

function union(branch: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.uniqueArray(branch, { selector: branchName, minLength: 1, maxLength: 3 })
}

function branchName(branch: Json): string {
  if (typeof branch === 'string') return branch
  const { type, name } = branch as { type: string; name?: string }
  return name ?? type
}

function defaultOf(type: Json): object {
  if (type === 'null') return { default: null }
  if (type === 'int' || type === 'long' || type === 'float' || type === 'double') return { default: 0 }
  if (type === 'string') return { default: '' }
  if (Array.isArray(type)) return type.includes('null') && type[0] === 'null' ? { default: null } : {}
  const { type: word } = type as { type?: string }
  return word === 'array' ? { default: [] } : word === 'map' ? { default: {} } : {}
}

/** A name may be defined once only: the second definition becomes a use of the first. */
function define(schema: Json, seen: Set<string>): Json {
  if (typeof schema === 'string') return schema
  if (Array.isArray(schema)) return dedupe(schema.map((branch) => define(branch, seen)))
  const { name, fields, items, values, ...rest } = schema as {
    name?: string
    fields?: { type: Json }[]
    items?: Json
    values?: Json
  }
  if (name !== undefined) {
    if (seen.has(name)) return name
    seen.add(name)
  }
  return {
    ...rest,
    ...(name === undefined ? {} : { name }),
    ...(fields ? { fields: fields.map((field) => ({ ...field, type: define(field.type, seen) })) } : {}),
    ...(items === undefined ? {} : { items: define(items, seen) }),
    ...(values === undefined ? {} : { values: define(values, seen) }),
  }
}

function dedupe(branches: Json[]): Json[] {
  return [...new Map(branches.map((branch) => [branchName(branch), branch])).values()]
}
