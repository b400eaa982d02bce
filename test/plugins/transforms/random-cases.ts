import { type Case, type FieldSchema, plain, sink, struct, structSchema, TYPES } from './case-data.ts'

/** Records at random, the same ones each time. */
export function* randomCases(): Generator<Case> {
  const next = mulberry(20_260_101)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)]!
  const chains: readonly (readonly [string, () => Record<string, string>])[] = [
    ['Cast$Value', () => ({ spec: `${pick(['a', 'b', 'c'])}:${pick(TYPES)}` })],
    ['Flatten$Value', () => ({ delimiter: pick(['.', '-']) })],
    [
      'ReplaceField$Value',
      () => pick([{ exclude: pick(['a', 'b', 'c']) }, { renames: 'a:z,b:y' }, { include: 'a,c' }]),
    ],
    [
      'MaskField$Value',
      () => ({ fields: pick(['a', 'b', 'a,c']), 'replace.null.with.default': pick(['true', 'false']) }),
    ],
    ['ExtractField$Value', () => ({ field: pick(['a', 'b', 'c.x', 'c']), 'field.syntax.version': pick(['V1', 'V2']) })],
    ['HeaderFrom$Value', () => ({ fields: 'a,b', headers: 'x,y', operation: pick(['move', 'copy']) })],
    ['InsertField$Value', () => ({ 'topic.field': 'topic', 'timestamp.field': 'at', 'offset.field': 'o!' })],
    ['ValueToKey', () => ({ fields: pick(['a', 'b,a']) })],
    ['SetSchemaMetadata$Value', () => ({ 'schema.name': 'R', 'schema.version': '3' })],
  ]
  const scalar = (): readonly [FieldSchema, unknown] => {
    const [type, value] = pick<readonly [string, unknown]>([
      ['int8', Math.floor(next() * 256) - 128],
      ['int32', Math.floor(next() * 2 ** 32) - 2 ** 31],
      ['int64', Math.floor((next() - 0.5) * 2 ** 53)],
      ['double', Math.round((next() - 0.5) * 1e6) / 64],
      ['boolean', next() < 0.5],
      ['string', pick(['', '7', '-3.5', 'true', 'ünï', 'x'.repeat(20)])],
    ])
    const isOptional = next() < 0.4
    const withDefault = isOptional && next() < 0.5
    const schema = { type, optional: isOptional, ...(withDefault && { default: value }) }
    return [schema, isOptional && next() < 0.5 ? null : value]
  }
  for (let count = 0; count < 250; count++) {
    const [name, config] = pick(chains)
    const [[a, va], [b, vb], [x, vx]] = [scalar(), scalar(), scalar()]
    const c = { ...structSchema({ x }), optional: next() < 0.3 }
    const vc = c.optional && next() < 0.5 ? null : { x: vx }
    const isPlain = next() < 0.3
    const value = isPlain
      ? plain({ a: va, b: vb, c: vc })
      : struct({ a, b, c }, { a: va, b: vb, c: vc }, { name: 'Random' })
    yield { class: name, config: config(), record: sink(value) }
  }
}

function mulberry(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
