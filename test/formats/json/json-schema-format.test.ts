import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/formats/json/canonical-json.ts'
import { jsonFormat } from '../../../src/formats/json/json-schema-format.ts'
import { SchemaError } from '../../../src/formats/schema-error.ts'

const parse = (text: string) => jsonFormat.parse({ text })

describe('canonicalJson', () => {
  it.each([
    ['{ "b" : 1,\n "a" : [ true , null ] }', '{"b":1,"a":[true,null]}', '{"a":[true,null],"b":1}'],
    ['{"10":1,"9":2}', '{"10":1,"9":2}', '{"10":1,"9":2}'],
    ['{"a":1,"b":2,"a":3}', '{"a":3,"b":2}', '{"a":3,"b":2}'],
    ['"\\u00e4\\/\\u001f"', '"ä/\\u001F"', '"ä/\\u001F"'],
    [
      '[1.0, 0.10, 1e3, 1.5E-9, -2, 12345678901234567890]',
      '[1.0,0.10,1E+3,1.5E-9,-2,12345678901234567890]',
      '[1.0,0.10,1E+3,1.5E-9,-2,12345678901234567890]',
    ],
  ])('prints %s without whitespace, and sorted if requested', (text, inOrder, sorted) => {
    expect(canonicalJson(text)).toBe(inOrder)
    expect(canonicalJson(text, { sorted: true })).toBe(sorted)
  })

  it.each([
    ['{"a":}', 'expected a value at line 1, column 6'],
    ['{"a":1}\n x', 'expected the end at line 2, column 2'],
    ['[1,', 'expected a value at line 1, column 4'],
    ['[01]', "expected ',' or ']' at line 1, column 3"],
    ['['.repeat(5_000), 'nested deeper than 1000'],
    // Java's BigDecimal cannot have them. The canonical text would not be JSON.
    [`{"maximum":1e${'9'.repeat(400)}}`, 'the exponent of a number is beyond 2147483647'],
    ['{"minimum":-1e-2147483648}', 'the exponent of a number is beyond 2147483647'],
  ])('rejects invalid JSON: case %#', (text, message) => {
    expect(() => canonicalJson(text)).toThrow(message)
  })
})

describe('parsing a JSON schema', () => {
  it('returns name and fields, and normalizes the order of members', () => {
    const one = parse('{"title": "Order", "type": "object", "properties": {"id": {"type": "integer"}}}')
    const other = parse('{"properties":{"id":{"type":"integer"}},"type":"object","title":"Order"}')
    expect([one.name, one.fields]).toEqual(['Order', ['id']])
    expect(one.canonical).not.toBe(other.canonical)
    expect(one.normalized().canonical).toBe(other.normalized().canonical)
  })

  it("reports incompatibilities with the messages of Confluent's registry", () => {
    const old = parse('{"type":"string"}')
    const now = parse('{"type":"string","minLength":3}')
    expect(now.incompatibilities(old, { roles: { reader: 'new', writer: 'old' } })).toEqual([
      {
        type: 'MIN_LENGTH_ADDED',
        path: '#/minLength',
        description: "The keyword at path '#/minLength' in the new schema is not present in the old schema",
        message: `{errorType:"MIN_LENGTH_ADDED", description:"The keyword at path '#/minLength' in the new schema is not present in the old schema'}`,
      },
    ])
  })

  it('detects regular expressions, also with escaped keywords and in references', () => {
    expect(parse('{"title":"patternProperties"}').hasPatterns).toBe(false)
    expect(parse('{"not":{"pattern\\u0050roperties":{"a":{}}}}').hasPatterns).toBe(true)
    const references = [{ name: 'a.json', subject: 'a', version: 1 }]
    const referring = (text: string) =>
      jsonFormat.parse(
        { text: '{"$ref":"a.json"}', references, dependencies: [{ name: 'a.json', subject: 'a', version: 1, text }] },
        { validation: 'loose' },
      )
    expect(referring('{"anyOf":[{"pattern\\u0050roperties":{"a":{}}}]}').hasPatterns).toBe(true)
    expect(referring('{}').hasPatterns).toBe(false)
  })

  it('resolves references by name, by $id and by anchor', () => {
    const source = {
      text: '{"$id":"http://shop/order.json","type":"object","properties":{"a":{"$ref":"address.json#/definitions/city"},"b":{"$ref":"#here"},"c":{"$anchor":"here","type":"string"}}}',
      references: [{ name: 'address.json', subject: 'address', version: 1 }],
      dependencies: [
        {
          name: 'address.json',
          subject: 'address',
          version: 1,
          text: '{"$defs":{"x":true},"definitions":{"city":{"type":"string"}}}',
        },
      ],
    }
    expect(jsonFormat.parse(source).fields).toEqual(['a', 'b', 'c'])
  })

  it.each([
    ['{', 'expected a member name in quotes'],
    ['[]', 'an object or a boolean'],
    ['"string"', 'an object or a boolean'],
    ['{"type":"strin"}', '#/type must be equal to one of the allowed values'],
    ['{"minLength":"3"}', '#/minLength must be integer'],
    [
      '{"$schema":"http://json-schema.org/draft-04/schema#","minimum":3,"exclusiveMinimum":3}',
      '#/exclusiveMinimum must be boolean',
    ],
    ['{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":{}}', '#/prefixItems must be array'],
    ['{"$ref":"#/definitions/gone"}', "$ref '#/definitions/gone' does not exist in the schema"],
    ['{"$ref":"http://elsewhere/x.json"}', 'remote schemas are not fetched'],
    [`{"not":${'{"not":'.repeat(600)}true${'}'.repeat(600)}}`, 'nested deeper than'],
  ])('rejects an invalid new schema: case %#', (text, message) => {
    expect(() => parse(text)).toThrow(SchemaError)
    expect(() => parse(text)).toThrow(message)
  })

  it('accepts an invalid stored schema', () => {
    expect(jsonFormat.parse({ text: '{"type":"strin"}' }, { validation: 'loose' }).canonical).toBe('{"type":"strin"}')
  })

  it.each(['draft-04', 'draft-06', 'draft-07'])('accepts the draft %s', (draft) => {
    expect(parse(`{"$schema":"http://json-schema.org/${draft}/schema#","type":"string"}`).fields).toEqual([])
  })

  it.each(['2019-09', '2020-12'])('accepts the draft %s', (draft) => {
    expect(
      parse(`{"$schema":"https://json-schema.org/draft/${draft}/schema","type":"string","$comment":"x"}`).fields,
    ).toEqual([])
  })
})
