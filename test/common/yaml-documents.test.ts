import { describe, expect, it } from 'vitest'
import { parseYaml, parseYamlDocuments } from '../../src/common/yaml-documents.ts'
import { cpuMsOf } from '../support/cpu-time.ts'

/** The errors of the documents of a text, with their positions. */
function errorsIn(text: string) {
  return parseYamlDocuments(text).flatMap(({ error }) =>
    error === undefined ? [] : [`${error.line}:${error.column} ${error.message}`],
  )
}

describe('the documents of a YAML text', () => {
  const text = `a: &x
  k: 1
  list: [1, {m: 2}]
b:
  <<: *x
  own: 2
c: *x
d:
7: seven
`
  const [document] = parseYamlDocuments(text)

  it('have the values that kubectl reads, with merged and shared maps', () => {
    const shared = { k: 1, list: [1, { m: 2 }] }
    expect(document?.value).toEqual({ a: shared, b: { ...shared, own: 2 }, c: shared, d: null, 7: 'seven' })
  })

  it.each([
    ['a value', ['a', 'k'], '2:6'],
    ['a map, at its key', ['a'], '1:1'],
    ['an item of a list', ['a', 'list', 0], '3:10'],
    ['a value in an item', ['a', 'list', 1, 'm'], '3:17'],
    ['a merged field, at its anchor', ['b', 'k'], '2:6'],
    ['a field of an alias, at its anchor', ['c', 'list', 0], '3:10'],
    ['an alias, where it is', ['c'], '7:4'],
    ['a key without a value', ['d'], '8:1'],
    ['a key that is a number', ['7'], '9:4'],
    ['a missing field, at its parent', ['b', 'missing', 'deep'], '4:1'],
    ['a missing item, at its list', ['a', 'list', 9], '3:3'],
  ])('locate %s', (_, path, expected) => {
    const { line, column } = document!.positionOf(path)
    expect(`${line}:${column}`).toBe(expected)
  })

  it('locate keys instead of values on request', () => {
    expect(document?.positionOf(['a', 'k'], { atKey: true })).toEqual({ line: 2, column: 3 })
  })

  it('count columns after a byte order mark, CRLF and characters of several bytes', () => {
    const [first, second] = parseYamlDocuments('\ufeffa: "äöü 😀"\r\nb: 1\r\n---\r\nc: 2\r\n')
    expect(first?.positionOf(['b'])).toEqual({ line: 2, column: 4 })
    expect(second?.positionOf(['c'])).toEqual({ line: 4, column: 4 })
  })

  it('keep large integers exactly only on request', () => {
    const large = 'n: 9007199254740993\nsmall: 1\n'
    expect(parseYamlDocuments(large, { exactIntegers: true })[0]?.value).toEqual({ n: 9007199254740993n, small: 1 })
    expect(parseYamlDocuments(large)[0]?.value).toEqual({ n: Number('9007199254740993'), small: 1 })
  })

  it('have no prototype that a field changes', () => {
    const value = parseYamlDocuments('__proto__: {polluted: 1}\nconstructor: 2\n')[0]?.value as object
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })
})

describe('an invalid document of a YAML text', () => {
  it.each([
    ['an alias without an anchor', 'a: 1\nb: [*nowhere]\n', '2:5 *nowhere has no anchor before it'],
    ['an alias inside of its anchor', 'a: &a {b: {c: *a}}\n', '1:15 *a contains itself'],
    ['a key that is used twice', 'a: {b: 1,\n  "b": 2}\n', '2:3 the key b is used twice'],
    ['a tab as indentation', 'a:\n\tb: 1\n', '2:1 Tabs are not allowed as indentation'],
    ['a key that is a map', 'a:\n  ? {b: 1}\n  : 2\n', '2:5 a key must not be a map or a list'],
    ['a key that is an alias of a list', 'a: &a [1]\n*a : 2\n', '2:1 a key must not be a map or a list'],
  ])('reports %s', (_, text, expected) => {
    expect(errorsIn(text)[0]).toEqual(expected)
  })

  it.each(['[', '{', '- ', '? ', '{a: ', '? - ', '!a {', '{{a: '])(
    'reports the position of excessive nesting in a document of 1 MB, and reads the others (%j)',
    (level) => {
      const deep = level.repeat(2 ** 20 / level.length)
      const documents = parseYamlDocuments(`a: 1\n---\n\n${deep}\n---\nb: 2\n`)
      expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, undefined, { b: 2 }])
      const message = expect.stringContaining('it is nested too deeply: at most 200 levels')
      expect(documents[1]?.error).toMatchObject({ line: 4, message })
      expect(documents[2]?.positionOf(['b'])).toEqual({ line: 6, column: 4 })
    },
  )

  it('is not one with 200 levels', () => {
    const levels = 200
    expect(errorsIn(`${'['.repeat(levels)}${']'.repeat(levels)}`)).toEqual([])
    expect(errorsIn(`${'{a: '.repeat(levels)}${'}'.repeat(levels)}`)).toEqual([])
    expect(errorsIn('['.repeat(levels + 2) + ']'.repeat(levels + 2))).toHaveLength(1)
  })

  it.each(['', '<<: '])('reports aliases that expand exponentially (%j)', (merge) => {
    const levels = Array.from({ length: 20 }, (_, at) => {
      const before = Array(9)
        .fill(`*a${at - 1}`)
        .join(', ')
      return at === 0 ? 'a0: &a0 {x: 1}' : `a${at}: &a${at} {${merge || 'k: '}[${before}]}`
    })
    expect(errorsIn(levels.join('\n'))).toEqual([expect.stringContaining('Excessive alias count')])
  })

  it('is read in linear time with 20,000 lines of different anchors and aliases', { tags: ['slow'] }, async () => {
    const lines = Array.from({ length: 10_000 }, (_, at) => `a${at}: &x${at} {k: ${at}}\nb${at}: {<<: *x${at}}`)
    const read = () => expect(parseYamlDocuments(lines.join('\n'))[0]?.value).toMatchObject({ b9999: { k: 9_999 } })
    expect(await cpuMsOf(read)).toBeLessThan(5_000)
  })

  it('reports a second key of a map that has 20,000 keys', { tags: ['slow'] }, () => {
    const keys = Array.from({ length: 20_000 }, (_, at) => `k${at}: 1`)
    expect(errorsIn([...keys, 'k7: 2'].join('\n'))).toEqual(['20001:1 the key k7 is used twice'])
  })

  it('does not affect the others', () => {
    const documents = parseYamlDocuments('a: 1\n---\nb: [\n---\nc: 3\n')
    expect(documents.map(({ value, error }) => (error === undefined ? value : 'invalid'))).toEqual([
      { a: 1 },
      'invalid',
      { c: 3 },
    ])
  })
})

describe('a text with one document of YAML', () => {
  it('has a value, which is null if the text is empty', () => {
    expect(['a: [1]\n', '', '# nothing\n'].map(parseYaml)).toEqual([{ a: [1] }, null, null])
  })

  it.each([
    ['a: 1\nb: [\n', /^line 3, column 1: .*flow/i],
    ['a: 1\n---\nb: 2\n', 'line 3, column 1: it has more than one document'],
    ['['.repeat(2 ** 20), /^line 1, column \d+: it is nested too deeply/],
  ])('is refused with a position if it is invalid', (text, message) => {
    expect(() => parseYaml(text)).toThrow(message)
  })
})
