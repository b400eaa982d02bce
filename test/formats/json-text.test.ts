import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { javaDouble } from '../../src/common/java-double.ts'
import { JsonNumber, parseJson, printJson } from '../../src/formats/json-text.ts'

describe('parseJson and printJson', () => {
  it('agree with JSON.parse for random values', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'small' }), (value) => {
        expect(JSON.parse(printJson(parseJson(JSON.stringify(value, null, 1))))).toEqual(
          JSON.parse(JSON.stringify(value)),
        )
      }),
    )
  })

  it('preserve the order of members and the literals of numbers', () => {
    expect(printJson(parseJson('{ "b": 1, "2": 9007199254740993, "1": [1.0, 1e2] }'))).toBe(
      '{"b":1,"2":9007199254740993,"1":[1.0,100.0]}',
    )
    expect(parseJson('1.50')).toEqual(new JsonNumber('1.50'))
  })

  it.each([
    ['', 'expected a value at line 1, column 1'],
    ['{"a" 1}', `expected ':' after "a" at line 1, column 6`],
    ['[1\n2]', "expected ',' or ']' at line 2, column 1"],
    ['{"a":1,}', 'expected a member name in quotes at line 1, column 8'],
    ['"a', 'expected the end of a string'],
    ['"\\x"', 'a string contains an invalid escape'],
    ['01', 'expected the end at line 1, column 2'],
    ['1 // c', 'expected the end'],
    ['[[[[', 'nested deeper than 3'],
  ])('report line and column of invalid JSON: %j', (text, message) => {
    expect(() => parseJson(text, { depthMax: 3 })).toThrow(message)
  })

  it.each([
    [1, '1.0'],
    [-0, '-0.0'],
    [1e7, '1.0E7'],
    [123456.5, '123456.5'],
    [0.001, '0.001'],
    [0.0001234, '1.234E-4'],
    [1e300, '1.0E300'],
    [5e-324, '4.9E-324'],
    [-1e-323, '-9.9E-324'],
    [2e23, '2.0E23'],
  ])('print the double %d as Java does', (value, text) => {
    expect(javaDouble(value)).toBe(text)
  })
})
