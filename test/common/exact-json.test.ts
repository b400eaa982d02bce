import { describe, expect, it } from 'vitest'
import { parseExactJson, printExactJson } from '../../src/common/exact-json.ts'

describe('exact JSON', () => {
  it.each([
    '{"lsn":9007199254740993,"max":9223372036854775807,"min":-9223372036854775808}',
    '[[18446744073709551616]]',
    '{"safe":9007199254740991,"text":"9007199254740993"}',
  ])('keeps the integers of %s', (text) => {
    expect(printExactJson(parseExactJson(text))).toBe(text)
  })

  it.each([
    ['{"whole":1.0,"zero":0.0,"large":1.0E10,"huge":1.0E300}'],
    ['[0.5,1.5E-7,1.2345678901E10]'],
    ['{"one":1,"text":"1.0","nan":"NaN"}'],
  ])('keeps the doubles of %s as Java prints them', (text) => {
    expect(printExactJson(parseExactJson(text))).toBe(text)
    expect(printExactJson(structuredClone(parseExactJson(text)))).toBe(text)
  })

  it('prints doubles that are no numbers as Java does, and refuses a map', () => {
    expect(printExactJson([Number.NaN, Number.NEGATIVE_INFINITY])).toBe('["NaN","-Infinity"]')
    expect(() => printExactJson({ a: new Map([[1, 'one']]) })).toThrow('a Map or Set cannot be represented in JSON')
  })

  it('reads an integer as a number if that is exact', () => {
    expect(parseExactJson('[9007199254740991,9007199254740993,0.25,1e300]')).toEqual([
      9007199254740991,
      9007199254740993n,
      0.25,
      Object(1e300),
    ])
  })

  it('reads an integer of more than 20 digits as a number, because a bigint of millions of digits takes seconds', () => {
    expect(parseExactJson(`[${'9'.repeat(20)},${'9'.repeat(21)}]`)).toEqual([99999999999999999999n, 1e21])
  })

  it('prints with an indentation', () => {
    expect(printExactJson({ a: 9007199254740993n }, 2)).toBe('{\n  "a": 9007199254740993\n}')
  })
})
