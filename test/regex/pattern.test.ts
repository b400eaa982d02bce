import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ecmaPattern, Pattern } from '../../src/regex/pattern.ts'
import { cpuMsOf } from '../support/cpu-time.ts'
import { propertyRuns } from '../support/property-seed.ts'

/** A text that a backtracking engine would match for hours. */
const HOSTILE_TEXT = `${'a'.repeat(5_000)}!`

describe('pattern', () => {
  it.each([
    ['^(a+)+$', ''],
    ['^(a|a)*$', ''],
    ['(?!b)(a+)+$', 'w'],
    ['(?=a)(a+)+$', 'w'],
    ['^(?!b)(?:a|aa)+$', ''],
    ['(?<!b)(a+)+$', ''],
    ['(.*)*(.*)*(.*)*#', ''],
    ['((?:[a-z]+)*)*\\d', ''],
  ])('%s is matched in linear time', async (source, options) => {
    const pattern = new Pattern(source, { dialect: 'java', isWhole: options === 'w' })
    expect(pattern.isLinear).toBe(true)
    const match = () => {
      expect(pattern.test(HOSTILE_TEXT)).toBe(false)
      expect(pattern.replaceFirst(HOSTILE_TEXT, () => 'x')).toBe(HOSTILE_TEXT)
    }
    expect(await cpuMsOf(match)).toBeLessThan(10_000)
  })

  it.each([
    ['(a)\\1', 'aa'],
    ['a(?=b)b', 'ab'],
    ['(?=a)b|c', 'c'],
    ['(?!(a))b', 'b'],
    ['[^]', 'a'],
    ['x{2000}', 'x'.repeat(2_000)],
    ['(?:a{80}){80}', 'a'.repeat(6_400)],
  ])('%s is not matched in linear time, is reported as such, and matches as in JavaScript', (source, text) => {
    const pattern = new Pattern(source, { dialect: 'ecma', isWhole: true })
    expect(pattern.isLinear).toBe(false)
    expect(pattern.test(text)).toBe(true)
    expect(pattern.test(`${text}-`)).toBe(false)
  })

  it('is not compiled when only its syntax is checked', async () => {
    const check = () => {
      for (let count = 0; count < 200; count += 1) new Pattern('x{900}'.repeat(500), { dialect: 'java' })
    }
    expect(await cpuMsOf(check)).toBeLessThan(5_000)
  })

  it('reports a syntax error when it is created', () => {
    expect(() => new Pattern('(', { dialect: 'java' })).toThrow(SyntaxError)
    expect(() => ecmaPattern('(')).toThrow(SyntaxError)
    for (const source of ['(', '(?i)(', '(?x)a', 'a(?i)b']) expect(() => ecmaPattern(source)).toThrow(SyntaxError)
  })

  it('in ECMAScript syntax is parsed without the u flag when it is valid only without it', () => {
    expect(ecmaPattern('\\-a{').test('-a{')).toBe(true)
    expect(ecmaPattern('(?i)^a.b$').test('A-B')).toBe(true)
    expect(ecmaPattern('(?is)^a.b$').test('A\nB')).toBe(true)
    expect(ecmaPattern('(?mim)^b$').test('a\nB')).toBe(true)
    expect(ecmaPattern('(?i)a').isLinear).toBe(true)
    expect(ecmaPattern('\\-a{').isLinear).toBe(true)
    // Without the u flag these are letters.
    expect(ecmaPattern('\\p{Lu}\\-').isLinear).toBe(false)
    expect(ecmaPattern('\\A\\-').test('A-')).toBe(true)
  })

  it('in Java syntax has other line terminators and whitespace than in ECMAScript syntax', () => {
    const java = (source: string) => new Pattern(source, { dialect: 'java', isWhole: true })
    expect(java('.').test('\u0085')).toBe(false)
    expect(java('\\s').test('\v')).toBe(true)
    expect(java('\\s').test('\u00a0')).toBe(false)
    expect(java('[\\s\\S]+').test('a \u00a0\n\u{1f600}')).toBe(true)
    expect(ecmaPattern('^\\s$').test('\u00a0')).toBe(true)
    expect(ecmaPattern('^.$').test('\u0085')).toBe(true)
  })

  it('replaces matches with the result of a function of the groups', () => {
    const pattern = new Pattern('(?<first>[a-z])(\\d)?', { dialect: 'java' })
    const replacement = (...match: unknown[]) =>
      `<${match.slice(0, 4).join('|')}|${(match.at(-1) as { first: string }).first}>`
    expect(pattern.replaceFirst('-a1b', replacement)).toBe('-<a1|a|1|1|a>b')
    expect(pattern.replaceAll('-a1b', replacement)).toBe('-<a1|a|1|1|a><b|b||3|b>')
    expect(pattern.isLinear).toBe(true)
  })

  it('finds and replaces the same text as JavaScript’s engine for any expression', () => {
    fc.assert(
      fc.property(
        expressions,
        fc.constantFrom('u', 'ui', 'us', 'um', ''),
        texts,
        fc.boolean(),
        (source, flags, text, whole) => {
          let native: RegExp
          try {
            native = new RegExp(whole ? `^(?:${source})$` : source, flags)
          } catch {
            return
          }
          const pattern = new Pattern(source, { dialect: 'ecma', flags, isWhole: whole })
          // In RE2 only \n ends a line, and a whole match covers the whole text.
          if (flags.includes('m') && (whole || text.includes('\u2028'))) return
          expect(pattern.test(text)).toBe(native.test(text))
          // Engines differ in how often they repeat a group that can be empty, and so in the length of the match.
          if (/\)[*+?{]/.test(source)) return
          // RE2 and Java keep the text of a group from an earlier iteration, JavaScript does not.
          const replacement = (match: unknown) => `<${match}>`
          expect(pattern.replaceFirst(text, replacement)).toBe(text.replace(native, replacement))
          expect(pattern.replaceAll(text, replacement)).toBe(
            text.replace(new RegExp(native.source, `${flags}g`), replacement),
          )
        },
      ),
      { numRuns: Number(process.env['REGEX_CASES'] ?? propertyRuns(1_000)) },
    )
  })
})

const atoms = fc.constantFrom(
  ...[
    'a',
    'b',
    'B',
    '-',
    '.',
    '\\.',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '\\b',
    '\\n',
    '\\x61',
    '\\u0062',
    '[ab]',
  ],
  ...[
    '[^a]',
    '[a-c\\s]',
    '[\\S]',
    '[[(?:]',
    '[.\\]]',
    '[\\b]',
    '\\/',
    '\\-',
    '\\0',
    '\\cJ',
    '\\u{62}',
    '\\p{Lu}',
    '\\t',
    '^',
    '$',
  ],
)
const quantifiers = fc.constantFrom('', '', '', '*', '+', '?', '*?', '+?', '{2}', '{0,2}', '{1,}?')
const { expression: expressions } = fc.letrec<{ expression: string; part: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small' },
    fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    fc.tuple(tie('expression'), tie('expression')).map(([left, right]) => `${left}|${right}`),
    fc
      .tuple(fc.constantFrom('(?=', '(?!', '^(?!', '^(?='), tie('expression'), tie('expression'))
      .map(([opening, condition, rest]) => `${opening}${condition})${rest}`),
  ),
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(atoms, quantifiers).map((parts) => parts.join('')),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?<!', '(?<='), tie('expression'), quantifiers)
      .map(([opening, inner, quantifier]) => `${opening}${inner})${opening.startsWith('(?<') ? '' : quantifier}`),
  ),
}))
const texts = fc
  .array(
    fc.constantFrom('a', 'b', 'A', 'B', '1', '-', '.', ' ', '\n', '\t', '\u00a0', '/', '_', '\u2028', '\0', '[', '('),
    { maxLength: 8 },
  )
  .map((chars) => chars.join(''))
