import fc from 'fast-check'
import { expect, it } from 'vitest'
import { matchesWildcard } from '../../src/regex/wildcard.ts'
import { cpuMsOf } from '../support/cpu-time.ts'

const letters = (...chars: string[]) => fc.array(fc.constantFrom(...chars), { maxLength: 8 }).map((all) => all.join(''))

it('matches the same texts as a regular expression with .* for each *', () => {
  fc.assert(
    fc.property(letters('a', 'b', '*'), letters('a', 'b'), (pattern, text) => {
      expect(matchesWildcard(pattern, text)).toBe(new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text))
    }),
  )
})

it('matches a pattern with many stars in linear time', async () => {
  const match = () => expect(matchesWildcard(`${'*a'.repeat(100)}*b`, 'a'.repeat(100_000))).toBe(false)
  expect(await cpuMsOf(match)).toBeLessThan(5_000)
})
