import { describe, expect, it } from 'vitest'
import { avroFormat } from '../../src/formats/avro/avro-format.ts'
import type { Format } from '../../src/formats/format.ts'
import { jsonFormat } from '../../src/formats/json/json-schema-format.ts'
import { protobufFormat } from '../../src/formats/protobuf/protobuf-format.ts'
import { dependenciesOf, type Referenced, type SchemaReference } from '../../src/formats/references.ts'

const to = (...names: string[]): SchemaReference[] => names.map((name) => ({ name, subject: `s-${name}`, version: 1 }))
const missing = ({ subject }: SchemaReference): never => {
  throw new Error(`no ${subject}`)
}
const reached = (stored: Readonly<Record<string, Referenced>>, ...from: string[]) =>
  dependenciesOf('s', to(...from), ({ name }) => stored[name], missing)

/** `top` refers to left and right, and both to `base`. */
const DIAMONDS: readonly (readonly [Format, Readonly<Record<string, Referenced>>, string])[] = [
  [
    avroFormat,
    {
      base: { text: '{"type":"enum","name":"n.Base","symbols":["A"]}', references: [] },
      left: {
        text: '{"type":"record","name":"n.Left","fields":[{"name":"b","type":"Base"}]}',
        references: to('base'),
      },
      right: {
        text: '{"type":"record","name":"n.Right","fields":[{"name":"b","type":"Base"}]}',
        references: to('base'),
      },
    },
    '{"type":"record","name":"n.Top","fields":[{"name":"l","type":"Left"},{"name":"r","type":"Right"},{"name":"b","type":"Base"}]}',
  ],
  [
    jsonFormat,
    {
      base: { text: '{"type":"string"}', references: [] },
      left: { text: '{"properties":{"b":{"$ref":"base"}}}', references: to('base') },
      right: { text: '{"items":{"$ref":"base"}}', references: to('base') },
    },
    '{"properties":{"l":{"$ref":"left"},"r":{"$ref":"right"},"b":{"$ref":"base"}}}',
  ],
  [
    protobufFormat,
    {
      base: { text: 'package n; message Base {}', references: [] },
      left: { text: 'package n; import public "base"; message Left { optional Base b = 1; }', references: to('base') },
      right: { text: 'package n; import "base"; message Right { optional Base b = 1; }', references: to('base') },
    },
    'package n; import "left"; import "right"; message Top { optional Left l = 1; optional Right r = 2; optional Base b = 3; }',
  ],
]

describe('schema references', () => {
  it.each(DIAMONDS)('include a shared dependency once and first: $type', (format, stored, text) => {
    const references = to('left', 'right')
    const dependencies = dependenciesOf('s', references, ({ name }) => stored[name], missing)
    expect(dependencies.map(({ name }) => name)).toEqual(['base', 'left', 'right'])
    const schema = format.parse({ text, references, dependencies })
    expect(schema.incompatibilities(schema, { roles: { reader: 'new', writer: 'old' } })).toEqual([])
    expect(schema.normalized().normalized().canonical).toBe(schema.normalized().canonical)
  })

  it.each(DIAMONDS)('name a missing reference in the error: $type', (format, _, text) => {
    expect(() => format.parse({ text })).toThrow(/left|right|base/i)
  })

  it('are rejected if they are circular, with the cycle in the error', () => {
    const stored = {
      a: { text: '', references: to('b') },
      b: { text: '', references: to('c') },
      c: { text: '', references: to('b') },
    }
    expect(() => reached(stored, 'a')).toThrow('circular references: a → b → c → b')
  })

  it('are rejected if they are nested too deeply', () => {
    const stored = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, at) => [`r${at}`, { text: '', references: to(`r${at + 1}`) }]),
    )
    expect(() => reached(stored, 'r0')).toThrow('references are nested through more than 500 schemas')
  })

  it('are resolved in the context of the schema that has them, unless they name one', () => {
    const one = (name: string, subject = name) => ({ name, subject, version: 1 })
    const stored: Readonly<Record<string, Referenced>> = {
      ':.a:left': { text: 'left of a', references: [one('base')] },
      ':.a:base': { text: 'base of a', references: [] },
      ':.b:right': { text: 'right of b', references: [one('lower'), one('shared', ':.:shared')] },
      ':.b:lower': { text: 'lower of b', references: [] },
      shared: { text: 'shared of the default context', references: [one('last')] },
      last: { text: 'last of the default context', references: [] },
    }
    const references = [one('left'), one('right', ':.b:right')]
    const found = dependenciesOf(':.a:top', references, ({ subject }) => stored[subject], missing)
    expect(found.map(({ text }) => text)).toEqual([
      'base of a',
      'left of a',
      'lower of b',
      'last of the default context',
      'shared of the default context',
      'right of b',
    ])
    // What a format receives is the reference as it is written.
    expect(found.map(({ subject }) => subject)).toEqual(['base', 'left', 'lower', 'last', ':.:shared', ':.b:right'])
  })

  it('are each visited once, even if several paths lead to them', () => {
    let visits = 0
    const layers = Array.from({ length: 40 }, (_, at) => [
      `l${at}`,
      { text: '', references: at === 39 ? [] : to(`l${at + 1}`, `m${at + 1}`) },
    ])
    const others = layers.map(([name, referenced]) => [String(name).replace('l', 'm'), referenced])
    const stored = Object.fromEntries([...layers, ...others]) as Record<string, Referenced>
    const find = ({ name }: SchemaReference) => {
      visits += 1
      return stored[name]
    }
    expect(dependenciesOf('s', to('l0'), find, missing)).toHaveLength(79)
    expect(visits).toBe(79)
  })
})
