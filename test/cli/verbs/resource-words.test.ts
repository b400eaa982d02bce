import { describe, expect, it } from 'vitest'
import { namesResource, parseResources } from '../../../src/cli/verbs/resource-words.ts'

const BOTH = ['connector', 'subject'] as const

describe('the arguments of a verb', () => {
  it.each([
    [['connectors'], { kind: 'connector', names: [] }],
    [['Connector', 'a', 'b', 'a'], { kind: 'connector', names: ['a', 'b'] }],
    [['connector/a', 'wconn/b/c'], { kind: 'connector', names: ['a', 'b/c'] }],
    [['wsubj', ':.ctx:x'], { kind: 'subject', names: [':.ctx:x'] }],
  ])('%j are a kind and names, as in kubectl', (args, expected) => {
    expect(parseResources('get', args, BOTH)).toEqual(expected)
  })

  it.each([
    [[], /expected connector or subject, such as weir get connector\/NAME/],
    [['conector'], /did you mean connector\?/],
    [['pods'], /'pods' is not a kind of this command; expected connector or subject/],
    [['connector/a', 'b'], /'b' has no kind: after connector\/a, expected KIND\/NAME/],
    [['connector/'], /'connector\/' has no name/],
    [['connector/a', 'subject/b'], /expected resources of one kind/],
  ])('%j are refused with what is expected', (args, message) => {
    expect(() => parseResources('get', args, BOTH)).toThrow(message)
  })

  it('are told from the directory of weir diff', () => {
    expect(['subject', 'subjects/x', 'subject/x'].map(namesResource)).toEqual([true, true, true])
    expect(['manifests', './subject', '/subject', undefined].map(namesResource)).toEqual([false, false, false, false])
  })
})
