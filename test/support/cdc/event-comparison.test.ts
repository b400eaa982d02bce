import { describe, expect, it } from 'vitest'
import { type Allowance, type ChangeEvent, EventComparison, parseEvent } from './event-comparison.ts'

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
  new EventComparison(allowances).differences(eventOf('one', left), eventOf('two', right))[0]?.path

describe('EventComparison', () => {
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

  it('leaves out events that only the right connector writes', () => {
    const extra = {
      why: 'twice',
      appliesTo: () => true,
      topic: /^t$/,
      isExtra: ({ value }: ChangeEvent) => value === null,
    }
    const comparison = new EventComparison([], [extra])
    const events = [eventOf('one', 'null'), eventOf('one', '"a"')]
    expect(comparison.expected({}, 'other', events)).toHaveLength(2)
    expect(comparison.unused()).toEqual(['twice'])
    expect(comparison.expected({}, 't', events)).toEqual([events[1]])
    expect(comparison.unused()).toEqual([])
  })

  it('remembers the allowances that were needed', () => {
    const comparison = new EventComparison([
      { path: 'value.a', why: 'needed' },
      { path: 'value.a', why: 'not needed', accepts: () => false },
    ])
    expect(comparison.differences(eventOf('one', '{"a":1}'), eventOf('two', '{"a":2}'))).toEqual([])
    expect(comparison.unused()).toEqual(['not needed'])
  })

  it('names the header that differs', () => {
    const left = eventOf('one', 'null', [['id', '"a"']])
    const right = eventOf('two', 'null', [['id', '"b"']])
    expect(new EventComparison([]).differences(left, right)[0]?.path).toBe('headers.id')
  })
})
