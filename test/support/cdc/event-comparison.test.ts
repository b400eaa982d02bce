import { describe, expect, it } from 'vitest'
import { type Allowance, findDifference, parseEvent } from './event-comparison.ts'

const eventOf = (prefix: string, value: string, headers: readonly (readonly [string, string])[] = []) =>
  parseEvent(
    {
      offset: 0,
      timestampMs: 0,
      key: null,
      value: Buffer.from(value),
      headers: headers.map(([name, text]) => [name, Buffer.from(text)]),
    },
    prefix,
  )
const compare = (left: string, right: string, allowances: readonly Allowance[] = []) =>
  findDifference(eventOf('one', left), eventOf('two', right), allowances)?.path

describe('findDifference', () => {
  it('replaces the prefix of the topics', () => {
    expect(compare('{"name":"one.Value"}', '{"name":"two.Value"}')).toBeUndefined()
  })

  it('compares long numbers by their digits', () => {
    expect(compare('{"n":9007199254740993}', '{"n":9007199254740992}')).toBe('value.n')
  })

  it('reports other members, another order of members, and null', () => {
    expect(compare('{"a":1}', '{"b":1}')).toBe('value (members)')
    expect(compare('{"a":1,"b":2}', '{"b":2,"a":1}')).toBe('value (members)')
    expect(compare('{"a":null}', '{"a":0}')).toBe('value.a')
  })

  it('allows a value of the same type that an allowance names, and no null', () => {
    const allowed = [{ path: 'value.ts', why: 'a time' }]
    expect(compare('{"ts":1}', '{"ts":2}', allowed)).toBeUndefined()
    expect(compare('{"ts":1}', '{"ts":null}', allowed)).toBe('value.ts')
    expect(compare('{"ts":1}', '{"ts":"2"}', allowed)).toBe('value.ts')
  })

  it('names the header that differs', () => {
    const left = eventOf('one', 'null', [['id', '"a"']])
    const right = eventOf('two', 'null', [['id', '"b"']])
    expect(findDifference(left, right, [])?.path).toBe('headers.id')
  })
})
