import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomAt } from '../../../src/java-compat/avro-random-generator/random.ts'
import {
  alternatives,
  characterOf,
  constant,
  repetition,
  sequence,
  type Texts,
  toGenerator,
} from '../../../src/java-compat/avro-random-generator/texts.ts'

const { texts } = fc.letrec<{ texts: Texts; part: Texts }>((tie) => ({
  part: fc.oneof(
    { withCrossShrink: true },
    fc.string({ maxLength: 3 }).map(constant),
    fc
      .string({ minLength: 1, maxLength: 12 })
      .map((text) => characterOf(Array.from(text, (one) => one.codePointAt(0)!))),
    fc
      .tuple(tie('part'), fc.nat({ max: 3 }), fc.nat({ max: 3 }))
      .map(([part, min, more]) => repetition(part, min, min + more)),
    tie('texts'),
  ),
  texts: fc.oneof(
    fc.array(tie('part'), { maxLength: 4 }).map(sequence),
    fc.array(tie('part'), { minLength: 1, maxLength: 4 }).map(alternatives),
  ),
}))

describe('texts of an expression', () => {
  it('are the same from a table as built from their parts, and draw the same random numbers', () => {
    fc.assert(
      fc.property(texts, fc.nat(), (all, index) => {
        const [fromTable, builder] = [toGenerator(all), all.createBuilder()]
        const [random, other] = [randomAt(0, index), randomAt(0, index)]
        for (let turn = 0; turn < 5; turn++) expect(fromTable(random)).toBe(builder(other))
        expect(random.below(2 ** 32)).toBe(other.below(2 ** 32))
      }),
    )
  })

  it('have a number each', () => {
    const all = sequence([
      characterOf([0x61, 0x62]),
      repetition(alternatives([constant('-'), characterOf([0x78, 0x79])]), 0, 2),
    ])
    const numbered = Array.from({ length: all.count }, (_, number) => all.textAt(number))
    expect(all.count).toBe(2 * (1 + 3 + 9))
    expect(new Set(numbered).size).toBe(all.count)
    expect(Math.max(...numbered.map(({ length }) => length))).toBeLessThanOrEqual(all.lengthMax)
  })

  it('do not take much memory, although there are many of them', () => {
    const long = repetition(constant('x'.repeat(100_000)), 0, 3)
    expect(toGenerator(sequence([long, characterOf([0x61])]))(randomAt(0, 0))).toMatch(/^x*a$/)
    const endless = repetition(repetition(characterOf([0x61, 0x62]), 900, 900), 900, 900)
    expect(endless.count).toBe(Number.POSITIVE_INFINITY)
    expect(toGenerator(endless)(randomAt(0, 0))).toMatch(/^[ab]{810000}$/)
  })
})
