import fc from 'fast-check'

/**
 * Random Avro schemas as JSON. They are generated as shapes in which names need not be unique, so that a shape stays
 * valid when one part of it is changed; `write` then converts a shape to a valid schema. Names are chosen from few
 * letters, so that two schemas often share names.
 */
export type Json = unknown

type Shape =
  | { readonly kind: 'primitive'; readonly word: string; readonly logical?: string }
  | { readonly kind: 'array' | 'map'; readonly of: Shape }
  | { readonly kind: 'union'; readonly branches: readonly Shape[] }
  | Named
type Naming = { readonly name: string; readonly space: string | undefined; readonly aliases: readonly string[] }
type Named = Naming &
  (
    | { readonly kind: 'record'; readonly fields: readonly Field[] }
    | { readonly kind: 'enum'; readonly symbols: readonly string[]; readonly hasDefault: boolean }
    | { readonly kind: 'fixed'; readonly size: number }
  )
type Field = {
  readonly name: string
  readonly shape: Shape
  readonly hasDefault: boolean
  readonly aliases: readonly string[]
}

const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const
const LOGICAL: Readonly<Record<string, readonly string[]>> = {
  int: ['date', 'time-millis', 'unknown'],
  long: ['timestamp-millis', 'time-micros'],
  string: ['uuid'],
  bytes: ['decimal'],
}
const SYMBOLS = ['A', 'B', 'C']
const FIELDS = ['a', 'b', 'c', 'd']

const primitive: fc.Arbitrary<Shape> = fc
  .tuple(fc.constantFrom(...PRIMITIVES), fc.option(fc.nat(2), { freq: 5 }))
  .map(([word, at]) => {
    const logical = at === null ? undefined : LOGICAL[word]?.[at]
    return { kind: 'primitive', word, ...(logical === undefined ? {} : { logical }) }
  })

type Spaces = readonly ('n' | 'm.o')[]

const naming = (names: readonly string[], spaces: Spaces): fc.Arbitrary<Naming> =>
  fc.record({
    name: fc.constantFrom(...names),
    space: fc.constantFrom(undefined, undefined, undefined, ...spaces),
    aliases: fc.oneof(
      { weight: 3, arbitrary: fc.constant<string[]>([]) },
      {
        weight: 1,
        arbitrary: fc.subarray(['R', 'S', 'E', 'F', ...spaces.map((space) => `${space}.R`)], { maxLength: 2 }),
      },
    ),
  })
const fieldNaming = fc.record({
  name: fc.constantFrom(...FIELDS),
  hasDefault: fc.boolean(),
  aliases: fc.oneof(
    { weight: 4, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.subarray(FIELDS, { maxLength: 2 }) },
  ),
})

const shapes = (spaces: Spaces): fc.Arbitrary<Shape> =>
  fc.letrec<{ shape: Shape; branch: Shape }>((tie) => {
    const field = fc.tuple(fieldNaming, tie('shape')).map(([{ name, hasDefault, aliases }, of]) => ({
      name,
      shape: of,
      hasDefault,
      aliases: aliases.filter((alias) => alias !== name),
    }))
    return {
      branch: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        { weight: 4, arbitrary: primitive },
        { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('array', 'map'), of: tie('shape') }) },
        {
          weight: 1,
          arbitrary: fc
            .tuple(naming(['F', 'G'], spaces), fc.constantFrom(2, 4))
            .map(([names, size]): Shape => ({ kind: 'fixed', ...names, size })),
        },
        {
          weight: 1,
          arbitrary: fc
            .tuple(naming(['E', 'F'], spaces), fc.subarray(SYMBOLS, { minLength: 1 }), fc.boolean())
            .map(([names, symbols, hasDefault]): Shape => ({ kind: 'enum', ...names, symbols, hasDefault })),
        },
        {
          weight: 3,
          arbitrary: fc
            .tuple(naming(['R', 'S'], spaces), fc.uniqueArray(field, { selector: ({ name }) => name, maxLength: 4 }))
            .map(([names, fields]): Shape => ({ kind: 'record', ...names, fields })),
        },
      ),
      shape: fc.oneof(
        { weight: 4, arbitrary: tie('branch') },
        {
          weight: 1,
          arbitrary: fc
            .array(tie('branch'), { minLength: 1, maxLength: 3 })
            .map((branches): Shape => ({ kind: 'union', branches })),
        },
      ),
    }
  }).shape

/** One change that an author might make, compatible or not. */
type Edit = {
  readonly kind: number
  readonly at: number
  readonly other: Shape
  readonly word: string
  readonly space: string | undefined
  readonly bit: boolean
}

/** A valid schema: each named type is defined once, and the branches of each union differ. */
export const avroSchema: fc.Arbitrary<Json> = shapes(['n', 'm.o']).map(write)

/** A reader and a writer schema: unrelated, or (more often) one is an edited version of the other. */
export const avroPair = pairOf(['n', 'm.o'])
/** Like `avroPair`, but without namespaces. */
export const plainAvroPair = pairOf([])

function pairOf(spaces: Spaces): fc.Arbitrary<readonly [reader: Json, writer: Json]> {
  const one = shapes(spaces)
  const edit: fc.Arbitrary<Edit> = fc.record({
    kind: fc.nat(7),
    at: fc.nat(12),
    other: fc.oneof(primitive, one),
    word: fc.constantFrom(...FIELDS),
    space: fc.constantFrom(undefined, ...spaces),
    bit: fc.boolean(),
  })
  return fc.oneof(
    { weight: 1, arbitrary: fc.tuple(one.map(write), one.map(write)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(one, fc.array(edit, { minLength: 1, maxLength: 3 }))
        .map(([writer, edits]) => [write(edits.reduce(edited, writer)), write(writer)] as const),
    },
  )
}

/** Returns the shape with its `at`-th part, in preorder, changed. */
function edited(whole: Shape, { at, ...how }: Edit): Shape {
  let left = at
  const visit = (one: Shape): Shape => {
    if (left-- === 0) return change(one, { at, ...how })
    switch (one.kind) {
      case 'array':
      case 'map':
        return { ...one, of: visit(one.of) }
      case 'union':
        return { ...one, branches: one.branches.map(visit) }
      case 'record':
        return { ...one, fields: one.fields.map((field) => ({ ...field, shape: visit(field.shape) })) }
      default:
        return one
    }
  }
  return visit(whole)
}

function change(one: Shape, how: Edit): Shape {
  if (how.kind === 0) return how.other
  if (how.kind === 1) return { kind: 'union', branches: how.bit ? [one, how.other] : [how.other, one] }
  if (one.kind === 'union') return { ...one, branches: how.bit ? one.branches.slice(-2) : one.branches.toReversed() }
  return 'name' in one ? changeNamed(one, how) : one
}

function changeNamed(one: Named, { kind, other, word, space, bit }: Edit): Shape {
  if (kind === 2) return { ...one, name: one.name === 'R' ? 'S' : 'R', aliases: bit ? [one.name] : one.aliases }
  if (kind === 3) return { ...one, space }
  if (one.kind === 'fixed') return { ...one, size: bit ? 2 : 4 }
  if (one.kind === 'enum') return { ...one, symbols: bit ? ['A', 'C'] : SYMBOLS, hasDefault: kind > 5 }
  return { ...one, fields: changeFields(one.fields, kind, word, other, bit) }
}

function changeFields(
  fields: readonly Field[],
  kind: number,
  word: string,
  other: Shape,
  bit: boolean,
): readonly Field[] {
  const without = fields.filter(({ name }) => name !== word)
  const old = fields.find(({ name }) => name !== word)
  if (kind === 4) return without
  if (kind === 5) return [...without, { name: word, shape: other, hasDefault: bit, aliases: [] }]
  if (kind === 6) return fields.toReversed()
  if (!old) return fields
  const renamed = { ...old, name: word, aliases: bit ? [old.name] : [] }
  return [...without.filter(({ name }) => name !== old.name), renamed]
}

/** Converts a shape to a valid schema: repeated definitions become references, union branches differ, defaults fit. */
function write(one: Shape): Json {
  return new Writer().write(one, '')
}

class Writer {
  readonly #defined = new Map<string, Named>()
  /** Records whose fields are not complete yet: neither Java nor avsc accepts a value of such a type as a default. */
  readonly #open = new Set<string>()

  write(one: Shape, space: string): Json {
    switch (one.kind) {
      case 'primitive':
        return one.logical === undefined ? one.word : { type: one.word, logicalType: one.logical, precision: 4 }
      case 'array':
        return { type: 'array', items: this.write(one.of, space) }
      case 'map':
        return { type: 'map', values: this.write(one.of, space) }
      case 'union':
        return [...branchesOf(one, space).values()].map((branch) => this.write(branch, space))
      default:
        return this.#named(one, space)
    }
  }

  #named(one: Named, enclosing: string): Json {
    const space = one.space ?? enclosing
    const full = fullName(one, enclosing)
    if (this.#defined.has(full)) return full
    this.#defined.set(full, one)
    const head = {
      type: one.kind,
      name: one.name,
      ...(one.space === undefined ? {} : { namespace: one.space }),
      ...(one.aliases.length > 0 ? { aliases: one.aliases } : {}),
    }
    if (one.kind === 'fixed') return { ...head, size: one.size }
    if (one.kind === 'enum')
      return { ...head, symbols: one.symbols, ...(one.hasDefault ? { default: one.symbols[0] } : {}) }
    this.#open.add(full)
    const fields = one.fields.map((field) => ({
      name: field.name,
      type: this.write(field.shape, space),
      ...(field.aliases.length > 0 ? { aliases: field.aliases } : {}),
      ...this.#default(field, space),
    }))
    this.#open.delete(full)
    return { ...head, fields }
  }

  #default({ hasDefault, shape: of }: Field, space: string): object {
    const value = hasDefault ? this.#valueOf(of, space, 3) : undefined
    return value === undefined ? {} : { default: value }
  }

  /** A value of the shape; undefined if none terminates within `depth`. */
  #valueOf(one: Shape, space: string, depth: number): Json | undefined {
    if (depth === 0) return undefined
    switch (one.kind) {
      case 'primitive':
        return one.word === 'null' ? null : one.word === 'boolean' ? true : /string|bytes/.test(one.word) ? 'x' : 0
      case 'array':
        return []
      case 'map':
        return {}
      case 'union': {
        const [first] = branchesOf(one, space).values()
        return first && this.#valueOf(first, space, depth - 1)
      }
      default:
        return this.#valueOfNamed(one, space, depth)
    }
  }

  #valueOfNamed(used: Named, enclosing: string, depth: number): Json | undefined {
    const full = fullName(used, enclosing)
    if (this.#open.has(full)) return undefined
    const one = this.#defined.get(full) ?? used
    if (one.kind === 'fixed') return 'x'.repeat(one.size)
    if (one.kind === 'enum') return one.symbols[0]
    const space = one.space ?? enclosing
    const members = one.fields.map((field) => [field.name, this.#valueOf(field.shape, space, depth - 1)] as const)
    return members.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(members)
  }
}

function fullName({ name, space }: Naming, enclosing: string): string {
  const own = space ?? enclosing
  return own === '' ? name : `${own}.${name}`
}

/** The branches of a union by name, flattened and without duplicates. */
function branchesOf(union: Shape & { kind: 'union' }, space: string): ReadonlyMap<string, Shape> {
  const flat = (one: Shape): readonly Shape[] => (one.kind === 'union' ? one.branches.flatMap(flat) : [one])
  return new Map(flat(union).map((one) => [branchName(one, space), one]))
}

function branchName(one: Shape, space: string): string {
  if (one.kind === 'primitive') return one.word
  return 'name' in one ? fullName(one, space) : one.kind
}

/** Whether no two types of the pair share a simple name or an alias. */
export function hasClearNames(schemas: readonly Json[]): boolean {
  const types = schemas.flatMap(namesOf)
  const taken = Map.groupBy(
    types.flatMap((type) =>
      type.names.map((name) => ({ simple: name.slice(name.lastIndexOf('.') + 1), full: type.full })),
    ),
    ({ simple }) => simple,
  )
  return [...taken.values()].every((uses) => new Set(uses.map(({ full }) => full)).size === 1)
}

/** Whether no two fields of a record share a name or an alias. */
export function hasClearFields(schema: Json): boolean {
  if (schema === null || typeof schema !== 'object') return true
  const { fields } = schema as { fields?: readonly { readonly name: string; readonly aliases?: readonly string[] }[] }
  const names = Array.isArray(fields) ? fields.flatMap(({ name, aliases = [] }) => [name, ...aliases]) : []
  return new Set(names).size === names.length && Object.values(schema).every(hasClearFields)
}

function namesOf(schema: Json): readonly { readonly full: string; readonly names: readonly string[] }[] {
  if (schema === null || typeof schema !== 'object') return []
  if (Array.isArray(schema)) return schema.flatMap(namesOf)
  const { name, symbols, size, fields, namespace, aliases } = schema as Record<string, string & string[]>
  const inside = Object.values(schema).flatMap(namesOf)
  if (!(symbols ?? size ?? fields)) return inside
  const full = namespace === undefined ? `${name}` : `${namespace}.${name}`
  return [{ full, names: [full, ...(aliases ?? [])] }, ...inside]
}

// No integer exceeds 64 bits: Java rejects one as a member of a record, but accepts it as a member of an enum.
const NUMBERS = ['0', '-0', '-0.0', '1', '1.0', '1e3', '1.5E-9', '2.50', '1e400', '9007199254740993']
const MEMBERS = [
  'name',
  'namespace',
  'type',
  'doc',
  'aliases',
  'default',
  'order',
  'fields',
  'symbols',
  'size',
  'items',
]
const EXTRAS = ['logicalType', 'precision', 'scale', 'values', 'x', 'é"\u001f']

const anyValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    { weight: 3, arbitrary: fc.constantFrom(...NUMBERS.map((literal) => `#${literal}`)) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        '',
        'a',
        'R',
        'n.R',
        'A',
        'int',
        'decimal',
        'IGNORE',
        '\u00e9\u2028\u0000/"\\',
        'NaN',
        '1.5',
      ),
    },
    { weight: 1, arbitrary: fc.constantFrom(null, true, false) },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 2 }) },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom('a', 'b', 'é'), tie('value'), { maxKeys: 2 }) },
  ),
})).value

/** Texts of schemas with added or replaced members: many are valid, many are almost valid. */
export const avroText: fc.Arbitrary<string> = fc
  .tuple(
    avroSchema,
    fc.array(fc.record({ at: fc.nat(8), member: fc.constantFrom(...MEMBERS, ...EXTRAS, ...EXTRAS), value: anyValue }), {
      maxLength: 3,
    }),
  )
  .map(([schema, additions]) => {
    const whole = structuredClone(schema)
    const objects = objectsIn(whole)
    for (const { at, member, value } of additions)
      Object.assign(objects[at % objects.length] ?? {}, { [member]: value })
    return JSON.stringify(whole).replace(/"#([-+.\deE]+)"/g, '$1')
  })

function objectsIn(json: Json): object[] {
  if (json === null || typeof json !== 'object') return []
  const inside = Object.values(json).flatMap(objectsIn)
  return Array.isArray(json) ? inside : [json, ...inside]
}
