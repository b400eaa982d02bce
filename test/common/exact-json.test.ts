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

  it('reads an integer as a number if that is exact', () => {
    expect(parseExactJson('[9007199254740991,9007199254740993,0.25,1e300]')).toEqual([
      9007199254740991,
      9007199254740993n,
      0.25,
      1e300,
    ])
  })

  it('reads an integer of more than 20 digits as a number, because a bigint of millions of digits takes seconds', () => {
    expect(parseExactJson(`[${'9'.repeat(20)},${'9'.repeat(21)}]`)).toEqual([99999999999999999999n, 1e21])
  })

  it('prints with an indentation', () => {
    expect(printExactJson({ a: 9007199254740993n }, 2)).toBe('{\n  "a": 9007199254740993\n}')
  })
})
