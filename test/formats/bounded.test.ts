import { describe, expect, it } from 'vitest'
import { avroFormat } from '../../src/formats/avro/avro-format.ts'
import type { Format } from '../../src/formats/format.ts'
import { jsonFormat } from '../../src/formats/json/json-schema-format.ts'
import { maximumMatching } from '../../src/formats/json/maximum-matching.ts'
import { protobufFormat } from '../../src/formats/protobuf/protobuf-format.ts'

const roles = { reader: 'new', writer: 'old' }
const list = <T>(length: number, one: (at: number) => T): T[] => Array.from({ length }, (_, at) => one(at))
const record = (name: string, fields: unknown[]) => ({ type: 'record', name, fields })
const field = (name: string, type: unknown) => ({ name, type })

function work(format: Format, text: string, other = text) {
  const [now, old] = [format.parse({ text }), format.parse({ text: other })]
  now.normalized()
  return now.incompatibilities(old, { roles })
}

/** Texts in proportion to `n`, of the kinds that once took its square. */
const GROWING: readonly (readonly [title: string, Format, (n: number) => string])[] = [
  ['an Avro enum', avroFormat, (n) => JSON.stringify({ type: 'enum', name: 'E', symbols: list(n, (at) => `S${at}`) })],
  ['an Avro union of records', avroFormat, (n) => JSON.stringify(list(n, (at) => record(`R${at}`, [])))],
  [
    'an Avro type that is defined repeatedly next to a large type',
    avroFormat,
    (n) =>
      JSON.stringify([
        record(
          'Large',
          list(n, (at) => field(`f${at}`, 'int')),
        ),
        record(
          'R',
          list(n, (at) => field(`f${at}`, record('K', [field('l', 'Large')]))),
        ),
      ]),
  ],
  [
    'Avro aliases in a long namespace',
    avroFormat,
    (n) => JSON.stringify({ ...record(`${'a.'.repeat(n / 4)}R`, []), aliases: list(n, (at) => `A${at}`) }),
  ],
  [
    'Avro types in a long namespace',
    avroFormat,
    (n) =>
      JSON.stringify({
        ...record(
          'R',
          list(n / 4, (at) => field(`f${at}`, record(`R${at}`, []))),
        ),
        namespace: `a${'.a'.repeat(n)}`,
      }),
  ],
  ['a JSON enum', jsonFormat, (n) => JSON.stringify({ enum: list(n, (at) => `s${at}`) })],
  [
    'JSON oneOf branches',
    jsonFormat,
    (n) => JSON.stringify({ oneOf: list(n / 4, (at) => ({ type: 'object', properties: { [`k${at}`]: {} } })) }),
  ],
  [
    'reserved numbers',
    protobufFormat,
    (n) => `message M { ${list(n, (at) => `reserved ${at + 20_000}; optional int32 f${at} = ${at + 1};`).join('')} }`,
  ],
  ['keys of an option', protobufFormat, (n) => `option (a) = { ${'k: 1 '.repeat(n)} }; message M {}`],
]

describe('the cost of hostile schemas', { tags: ['slow'] }, () => {
  it.each(GROWING)('is linear in the size of the text: %s', (_, format, text) => {
    const cost = (n: number) => {
      const sample = text(n)
      const before = process.cpuUsage()
      work(format, sample, `${sample} `)
      return process.cpuUsage(before).user
    }
    cost(200)
    const small = Math.max(cost(250), cost(250), 1_000)
    // Eight times as much: the square would be 64. Measured again only if other work of the process was in between.
    const large = cost(2_000) / small
    expect(large < 40 ? large : cost(2_000) / small).toBeLessThan(40)
  })

  it('is limited for unions: only changed branches are compared with each other', () => {
    let comparisons = 0
    const size = maximumMatching({
      left: 1_000,
      right: 1_001,
      guess: (left) => (left === 500 ? undefined : left),
      fits: (left, right) => {
        comparisons += 1
        return left === right || (left === 500 && right === 1_000)
      },
    })
    expect(size).toBe(1_000)
    expect(comparisons).toBeLessThan(2_500)
  })

  it.each([
    ['JSON', jsonFormat, `{"not":`.repeat(10_000), 'nested deeper than 1000'],
    ['Avro', avroFormat, `{"type":"array","items":`.repeat(10_000), 'nested deeper than 1000'],
    ['Protobuf', protobufFormat, 'message M {'.repeat(10_000), 'nested deeper than 100'],
    [
      'a chain of Avro type references',
      avroFormat,
      JSON.stringify(list(10_000, (at) => record(`R${at}`, at < 9_999 ? [field('n', `R${at + 1}`)] : []))),
      'types are nested deeper than 1000',
    ],
    ['a JSON schema that refers only to itself', jsonFormat, '{"$ref":"#"}', 'circular $ref without a schema'],
    ['a message in an option', protobufFormat, `option (a) = ${'{ b: '.repeat(10_000)}`, 'nested deeper than 50'],
  ])('is limited by a maximum nesting: %s', (_, format, text, message) => {
    expect(() => format.parse({ text })).toThrow(message)
  })

  it.each([
    ['types', list(1_000, (at) => ({ type: 'fixed', name: `F${at}`, size: 1 }))],
    ['references', list(1_000, () => 'R')],
  ])('is limited for the total length of Avro names: %s', (_, types) => {
    const text = JSON.stringify({
      ...record(
        'R',
        types.map((type, at) => field(`f${at}`, type)),
      ),
      namespace: 'a'.repeat(10_000),
    })
    for (const validation of ['strict', 'loose'] as const)
      expect(() => avroFormat.parse({ text }, { validation })).toThrow(/have more than \d+ characters in total/)
  })

  it('allows many names in a large schema', () => {
    const types = list(20_000, (at) => field(`f${at}`, { type: 'enum', name: `E${at}`, symbols: ['A'] }))
    const text = JSON.stringify({ ...record('R', types), namespace: `com.example.${'orders.'.repeat(30)}events` })
    expect(() => avroFormat.parse({ text })).not.toThrow()
  })

  it('is limited for chains of JSON definitions', () => {
    const definitions = (last: object) =>
      JSON.stringify({
        $ref: '#/definitions/d0',
        definitions: Object.fromEntries(
          list(5_000, (at) => [
            `d${at}`,
            at === 4_999 ? last : { type: 'array', items: { $ref: `#/definitions/d${at + 1}` } },
          ]),
        ),
      })
    expect(() => work(jsonFormat, definitions({}), definitions({ type: 'string' }))).toThrow(
      'references are nested too deeply',
    )
  })

  it('is limited for pairs of recursive Avro types', () => {
    const ring = (length: number) =>
      JSON.stringify(list(length, (at) => record(`R${at}`, [field('n', `R${(at + 1) % length}`)])))
    expect(() => work(avroFormat, ring(101), ring(103))).toThrow('too complex to compare')
  })

  it('does not grow exponentially for types that are used twice', () => {
    const avro = (last: string) =>
      JSON.stringify(
        list(60, (at) => at).reduceRight<unknown>(
          (inner, at) => record(`R${at}`, [field('a', inner), field('b', at === 59 ? last : `R${at + 1}`)]),
          last,
        ),
      )
    expect(work(avroFormat, avro('int'), avro('string')).length).toBeLessThanOrEqual(1_000)
    const json = (last: string) =>
      JSON.stringify({
        $ref: '#/definitions/d0',
        definitions: Object.fromEntries(
          list(60, (at) => {
            const next = { $ref: `#/definitions/d${at + 1}` }
            return [`d${at}`, at === 59 ? { type: last } : { type: 'object', properties: { a: next, b: next } }]
          }),
        ),
      })
    expect(work(jsonFormat, json('string'), json('string'))).toEqual([])
    expect(work(jsonFormat, json('integer'), json('string')).length).toBeGreaterThan(0)
  })

  it('is limited for Avro defaults, which are checked once per type', () => {
    const branch = (name: string, more: unknown[]) => record(name, [field('f', ['null', 'A', 'B']), ...more])
    const value = list(60, () => 0).reduce<unknown>((inner) => ({ f: inner }), null)
    const text = (name: string) =>
      JSON.stringify([
        branch('A', [field('needed', 'int')]),
        branch('B', []),
        record(name, [{ ...field('x', ['A', 'B']), default: value }]),
      ])
    expect(avroFormat.parse({ text: text('R') }).name).toBeUndefined()
  })
})
