import type { Request } from './registry-cases.ts'

type Random = () => number

/** A seeded pseudorandom generator (mulberry32) of numbers from 0 (inclusive) to 1 (exclusive). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const TYPES = ['AVRO', 'JSON', 'PROTOBUF'] as const
type Type = (typeof TYPES)[number]

const REGISTER = [
  'POST /subjects/f/versions',
  'POST /subjects/f/versions?normalize=true',
  'POST /contexts/.c/subjects/g/versions?force=true',
  'POST /subjects/f',
  'POST /compatibility/subjects/f/versions/latest?verbose=true',
  'POST /compatibility/subjects/f/versions',
]
const CHANGES = ['PUT /config', 'PUT /config/f', 'PUT /mode/g', 'DELETE /subjects/f', 'DELETE /mode/f?recursive=x']

const VALID: Readonly<Record<Type, readonly string[]>> = {
  AVRO: [
    '"int"',
    '{"type":"record","name":"a.R","fields":[{"name":"f","type":["null","string"],"default":null},{"name":"r","type":["null","R"]}]}',
    '{"type":"enum","name":"E","symbols":["A","B"],"default":"A"}',
  ],
  JSON: [
    '{"type":"object","properties":{"a":{"$ref":"#/definitions/d"}},"definitions":{"d":{"$ref":"#/definitions/d"}}}',
    '{"$schema":"https://json-schema.org/draft/2020-12/schema","anyOf":[{"type":"string","pattern":"^a+$"},{"items":false}]}',
    'true',
  ],
  PROTOBUF: [
    'syntax = "proto3"; package p; message M { map<string, M> m = 1; oneof o { int32 a = 2; bytes b = 3; } }',
    'syntax = "proto2"; message M { optional group G = 1 { required string s = 2; } extensions 100 to max; }',
    'enum E { A = 0; }',
  ],
}

/** A malformed or unusual request, determined by the seed. */
export function malformedRequest(random: Random): Request {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const count = (most: number) => 1 + Math.floor(random() * most)
  const type = pick(TYPES)
  const body = (schema: unknown, more: object = {}) => ({ schemaType: type, schema, ...more })
  const makers: readonly (() => Request)[] = [
    () => [pick(REGISTER), body(pick(VALID[type]))],
    () => [pick(REGISTER), body(mutated(pick(VALID[type]), random))],
    () => [pick(REGISTER), body(mutated(pick(VALID[type]), random))],
    () => [pick(REGISTER), mutated(JSON.stringify(body(pick(VALID[type]))), random)],
    () => [pick(REGISTER), body(deep(type, pick([10, 90, 400, 900, 3_000, 30_000])))],
    () => [pick(REGISTER), body(wide(type, count(300)))],
    () => [pick([...REGISTER, ...CHANGES]), { ...body(pick(VALID[type])), [pick(MEMBERS)]: pick(ODD) }],
    () => [pick(CHANGES), { compatibility: pick(ODD), mode: pick(['IMPORT', ...ODD]), alias: pick(ODD) }],
    () => [pick(REGISTER), body(pick(VALID[type]), { references: references(random) })],
    () => [pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH']).concat(' ', path(random)), undefined],
    () => [pick(REGISTER), `${'['.repeat(count(30_000))}${']'.repeat(count(30_000))}`],
  ]
  return pick(makers)()
}

/** Expensive requests of maximum size. Parsed on the main thread, each would block the server for seconds. */
export function expensiveRequests(): readonly Request[] {
  const bytes = 10 * 1024 * 1024 - 200
  const half = Math.floor(bytes / 2)
  const any = (depth: number, width: number): unknown =>
    depth === 0
      ? { type: 'string' }
      : {
          anyOf: Array.from({ length: width }, (_, at) => ({
            allOf: [any(depth - 1, width), { title: `${depth}.${at}` }],
          })),
        }
  const tangle = JSON.stringify(any(3, 8))
  const slow = { type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } } }
  const json = (schema: unknown) => ({
    schemaType: 'JSON',
    schema: typeof schema === 'string' ? schema : JSON.stringify(schema),
  })
  return [
    ['POST /subjects/m/versions', '['.repeat(half) + ']'.repeat(half)],
    ['POST /subjects/m/versions', `{"schema":"\\"int\\"","x":[${'{},'.repeat(Math.floor(bytes / 3) - 20)}1]}`],
    ['POST /subjects/m/versions', `{${Array.from({ length: 500_000 }, (_, at) => `"k${at}":1`).join()}}`],
    ['POST /subjects/m/versions', { schema: 'x'.repeat(bytes) }],
    ['POST /subjects/m/versions', json({ enum: Array.from({ length: 900_000 }, (_, at) => at) })],
    ['POST /subjects/m/versions', { schema: wide('AVRO', 100_000) }],
    ['POST /subjects/m/versions', { schemaType: 'PROTOBUF', schema: wide('PROTOBUF', 200_000) }],
    ['POST /subjects/m/versions', json(wide('JSON', 100_000))],
    ['POST /subjects/tangle/versions', json(tangle)],
    ['POST /subjects/tangle/versions', json(tangle.replaceAll('string', 'integer'))],
    ['POST /subjects/slow/versions', json(slow)],
    ['POST /subjects/slow/versions', json({ ...slow, properties: { [`${'a'.repeat(40)}!`]: { type: 'string' } } })],
  ]
}

const ODD = [
  null,
  0,
  -1,
  2 ** 40,
  1.5,
  '',
  'NONE',
  'x'.repeat(5_000),
  [],
  [null],
  {},
  { __proto__: 1 },
  true,
  '\u0000',
  '\ud800',
]
const MEMBERS = [
  'schema',
  'schemaType',
  'references',
  'metadata',
  'ruleSet',
  'id',
  'version',
  '__proto__',
  'constructor',
]

/** A few characters removed, doubled, swapped or replaced. */
function mutated(text: string, random: Random): string {
  let result = text
  for (let times = Math.floor(random() * 4); times >= 0; times--) {
    const at = Math.floor(random() * result.length)
    const length = Math.floor(random() * 4)
    const [before, piece, after] = [result.slice(0, at), result.slice(at, at + length), result.slice(at + length)]
    const odd = [
      '',
      piece + piece,
      '"',
      '{',
      '\\u0000',
      '9'.repeat(400),
      '-',
      '\ud83d',
      '[]',
      '$ref',
      ':',
      '//',
      '1e999',
    ]
    result = before + odd[Math.floor(random() * odd.length)] + after
  }
  return result
}

function deep(type: Type, levels: number): string {
  if (type === 'AVRO') return `${'{"type":"array","items":'.repeat(levels)}"int"${'}'.repeat(levels)}`
  if (type === 'JSON') return `${'{"items":'.repeat(levels)}{}${'}'.repeat(levels)}`
  return `syntax = "proto3"; ${Array.from({ length: levels }, (_, at) => `message A${at} {`).join(' ')}${'}'.repeat(levels)}`
}

function wide(type: Type, fields: number): string {
  const all = Array.from({ length: fields }, (_, at) => at)
  if (type === 'AVRO') {
    return JSON.stringify({
      type: 'record',
      name: 'W',
      fields: all.map((at) => ({ name: `f${at}`, type: 'int', default: at })),
    })
  }
  if (type === 'JSON')
    return JSON.stringify({ properties: Object.fromEntries(all.map((at) => [`p${at}`, { maximum: at }])) })
  return `syntax = "proto3"; message W { ${all.map((at) => `int32 f${at} = ${at + 1};`).join(' ')} }`
}

/** References to existing and missing subjects, and to the referring subject itself. */
function references(random: Random): readonly unknown[] {
  const names = ['f', 'g', 'nowhere', ':.c:g', '']
  return Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
    const name = names[Math.floor(random() * names.length)]
    return { name, subject: name, version: Math.floor(random() * 4) - 1 }
  })
}

function path(random: Random): string {
  const parts = [
    'subjects',
    'f',
    'versions',
    'latest',
    '-1',
    '0',
    'schemas',
    'ids',
    '1',
    '99999999999',
    'schema',
    'config',
    'mode',
  ]
  const odd = [
    'contexts',
    '.c',
    ':.x:y',
    '%00',
    '%F0%9F%92%A9',
    '%2F',
    '..',
    '',
    'guids',
    'a'.repeat(2_000),
    '%E0%A4%A',
    ':*:',
  ]
  const all = [...parts, ...odd]
  const segments = Array.from({ length: 1 + Math.floor(random() * 5) }, () => all[Math.floor(random() * all.length)])
  const queries = [
    '',
    '?deleted=true',
    '?limit=-5&offset=99999999999',
    '?subject=%00',
    '?format=resolved',
    '?a=%&b[]=1',
  ]
  return `/${segments.join('/')}${queries[Math.floor(random() * queries.length)]}`
}
