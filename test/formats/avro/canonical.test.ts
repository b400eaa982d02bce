import { describe, expect, it } from 'vitest'
import { avroFormat } from '../../../src/formats/avro/avro-format.ts'

const canonical = (schema: unknown) =>
  avroFormat.parse({ text: typeof schema === 'string' ? schema : JSON.stringify(schema) }).canonical

/** Input and what Apache Avro 1.12.1 for Java prints of it. */
const PRINTED: readonly (readonly [title: string, input: string, output: string])[] = [
  ['a primitive in an object', '{"type":"int"}', '"int"'],
  ['members that mean nothing', '{"type":"int","doc":"q","name":"n","namespace":"x","aliases":["q"]}', '"int"'],
  [
    'members in one order, unknown ones before aliases, numbers as Java writes them',
    '{"type":"record","name":"R","namespace":"a.b","aliases":["Q","x.Y"],"foo":1.50,"doc":"d","fields":[{"name":"f","type":{"type":"int","logicalType":"date"},"default":1,"aliases":["g"],"order":"descending","prop":{"b":1e10,"a":1.0},"doc":"fd"}],"bar":"\\u001f\\u00e9/"}',
    '{"type":"record","name":"R","namespace":"a.b","doc":"d","fields":[{"name":"f","type":{"type":"int","logicalType":"date"},"doc":"fd","default":1,"order":"descending","aliases":["g"],"prop":{"b":1.0E10,"a":1.0}}],"foo":1.5,"bar":"\\u001Fé/","aliases":["Q","x.Y"]}',
  ],
  [
    'an enum',
    '{"type":"enum","name":"E","symbols":["A","B"],"default":"A","aliases":["X"],"z":1,"doc":"q"}',
    '{"type":"enum","name":"E","doc":"q","symbols":["A","B"],"default":"A","z":1,"aliases":["X"]}',
  ],
  [
    'a fixed',
    '{"type":"fixed","name":"F","size":4,"logicalType":"decimal","precision":4,"scale":2,"aliases":["X"]}',
    '{"type":"fixed","name":"F","size":4,"logicalType":"decimal","precision":4,"scale":2,"aliases":["X"]}',
  ],
  [
    'a type without a namespace inside one with',
    '{"type":"record","name":"a.R","fields":[{"name":"a","type":{"type":"record","name":"S","namespace":"","fields":[]}},{"name":"x","type":"S"}]}',
    '{"type":"record","name":"R","namespace":"a","fields":[{"name":"a","type":{"type":"record","name":"S","namespace":"","fields":[]}},{"name":"x","type":"S"}]}',
  ],
  [
    'the definition where a name comes first',
    '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":"S"},{"name":"b","type":{"type":"record","name":"n.S","fields":[]}}]}',
    '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"record","name":"S","fields":[]}},{"name":"b","type":"S"}]}',
  ],
  [
    'aliases relative to the namespace',
    '{"type":"record","name":"R","namespace":"n","aliases":["n.A","B","m.C",".D"],"fields":[]}',
    '{"type":"record","name":"R","namespace":"n","fields":[],"aliases":["A","B","m.C","D"]}',
  ],
  [
    'an alias once, however it is written',
    '{"type":"fixed","name":"F","namespace":"n","aliases":["R","n.R"],"size":2}',
    '{"type":"fixed","name":"F","namespace":"n","size":2,"aliases":["R"]}',
  ],
  [
    'defaults as they are written',
    '{"type":"record","name":"R","fields":[{"name":"a","type":"float","default":1},{"name":"b","type":"double","default":1.0e300},{"name":"c","type":"long","default":12345678901},{"name":"f","type":"double","default":0.00012},{"name":"g","type":"float","default":"NaN"}]}',
    '{"type":"record","name":"R","fields":[{"name":"a","type":"float","default":1},{"name":"b","type":"double","default":1.0E300},{"name":"c","type":"long","default":12345678901},{"name":"f","type":"double","default":1.2E-4},{"name":"g","type":"float","default":"NaN"}]}',
  ],
  ['an error as a record', '{"type":"error","name":"R","fields":[]}', '{"type":"error","name":"R","fields":[]}'],
  [
    'the word for an order in lower case',
    '{"type":"record","name":"R","fields":[{"name":"f","type":"int","order":"IGNORE"}]}',
    '{"type":"record","name":"R","fields":[{"name":"f","type":"int","order":"ignore"}]}',
  ],
  ['comments', '/* c */ "int"', '"int"'],
  [
    'letters of other scripts in names',
    '{"type":"record","name":"Ré","fields":[]}',
    '{"type":"record","name":"Ré","fields":[]}',
  ],
  [
    'a default of a later branch',
    '{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"],"default":1}]}',
    '{"type":"record","name":"R","fields":[{"name":"a","type":["null","int"],"default":1}]}',
  ],
]

/** Input and a piece of the reason, where Java refuses too. */
const REFUSED: readonly (readonly [input: string, reason: string])[] = [
  ['string', 'expected a value'],
  ['{"type":"record","name":"R"}', 'Record has no fields'],
  ['{"type":"record","fields":[]}', 'No name in schema'],
  ['{"name":"R","fields":[]}', 'No type'],
  ['{"type":{"type":"int"}}', 'No type'],
  ['"Foo"', 'Undefined schema: Foo'],
  ['{"type":"record","name":"R-1","fields":[]}', 'Illegal character in: R-1'],
  ['{"type":"record","name":"R","fields":[{"name":"1a","type":"int"}]}', 'Illegal initial character: 1a'],
  ['{"type":"record","name":"a..R","fields":[]}', 'Namespace part "" is invalid: Empty name'],
  ['{"type":"record","name":"int","fields":[]}', 'Schemas may not be named after primitives: int'],
  [
    '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}',
    'Duplicate field a in record R',
  ],
  [
    '{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"record","name":"R","fields":[]}}]}',
    "Can't redefine: R",
  ],
  [
    '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":"x"}]}',
    'Invalid default for field a: "x" not a "int"',
  ],
  [
    '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":12345678901}]}',
    'Invalid default for field a',
  ],
  ['{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":1.0}]}', 'Invalid default for field a'],
  [
    '{"type":"record","name":"R","fields":[{"name":"a","type":"string","default":null}]}',
    'Invalid default for field a',
  ],
  [
    '{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"record","name":"T","fields":[{"name":"x","type":"int"}]},"default":{}}]}',
    'Invalid default for field f',
  ],
  ['{"type":"record","name":"R","fields":[{"name":"f","type":"int","order":"foo"}]}', 'Unknown field order'],
  ['{"type":"enum","name":"E","symbols":["A","A"]}', 'Duplicate enum symbol: A'],
  [
    '{"type":"enum","name":"E","symbols":["A"],"default":"B"}',
    'The Enum Default: B is not in the enum symbol set: [A]',
  ],
  ['{"type":"enum","name":"E"}', 'Enum has no symbols'],
  ['{"type":"fixed","name":"F","size":-1}', 'Length is negative'],
  ['{"type":"fixed","name":"F"}', 'Invalid or no size'],
  ['{"type":"array"}', 'Array has no items type'],
  ['{"type":"map"}', 'Map has no values type'],
  ['["int","int"]', 'Duplicate in union:int'],
  ['[["int"],"string"]', 'Nested union'],
  ['1', 'Schema not yet supported'],
  [
    '{"type":"record","name":"R","fields":[{"name":"a","type":["null","R"],"default":{}}]}',
    'A default cannot be a R inside of R',
  ],
  ['{"type":"record","name":"R","fields":[{"name":"f","type":"int","order":1}]}', 'Unknown field order: 1'],
]

describe('parsing an Avro schema', () => {
  it.each(PRINTED)('has the same canonical text as in Java: %s', (_, input, output) => {
    expect(canonical(input)).toBe(output)
    expect(canonical(output)).toBe(output)
  })

  it.each(REFUSED)('rejects the invalid schema %s', (input, reason) => {
    expect(() => canonical(input)).toThrow(reason)
  })

  it('does not check names and defaults of a stored schema', () => {
    const text = '{"type":"record","name":"R-1","fields":[{"name":"a","type":"int","default":"x"}]}'
    expect(avroFormat.parse({ text }, { validation: 'loose' }).canonical).toBe(text)
  })

  it('rejects a schema that is nested too deeply', () => {
    expect(() => canonical(`${'['.repeat(100_000)}`)).toThrow('nested deeper')
  })

  it('keeps the names of referenced types, and inlines them for format=resolved', () => {
    const address = {
      name: 'any',
      subject: 'address',
      version: 1,
      text: '{"type":"record","name":"n.Address","fields":[]}',
    }
    const schema = avroFormat.parse({
      text: '{"type":"record","name":"n.Person","fields":[{"name":"home","type":"Address"},{"name":"work","type":"Address"}]}',
      references: [address],
      dependencies: [address],
    })
    expect(schema.canonical).toBe(
      '{"type":"record","name":"Person","namespace":"n","fields":[{"name":"home","type":"Address"},{"name":"work","type":"Address"}]}',
    )
    expect(schema.formatted('resolved')).toBe(
      '{"type":"record","name":"Person","namespace":"n","fields":[{"name":"home","type":{"type":"record","name":"Address","fields":[]}},{"name":"work","type":"Address"}]}',
    )
    expect(schema.formatted('unknown')).toBeUndefined()
    expect([schema.name, schema.fields]).toEqual(['n.Person', ['home', 'work']])
  })

  it('normalizes schemas that differ only in notation to the same text', () => {
    const field = (props: object) => ({
      type: 'record',
      name: 'n.R',
      aliases: ['z', 'a'],
      fields: [{ name: 'd', type: props }],
    })
    const one = avroFormat.parse({
      text: JSON.stringify(field({ type: 'bytes', z: 1, scale: 2, a: 2, precision: 4, logicalType: 'decimal' })),
    })
    const other = avroFormat.parse({
      text: JSON.stringify({
        ...field({ logicalType: 'decimal', type: 'bytes', a: 2, precision: 4, z: 1, scale: 2 }),
        aliases: ['a', 'z'],
        doc: '',
      }),
    })
    expect(one.normalized().canonical).toBe(
      '{"type":"record","name":"R","namespace":"n","fields":[{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2,"a":2,"z":1}}],"aliases":["a","z"]}',
    )
    expect(other.normalized().canonical).toBe(one.normalized().canonical)
  })
})
