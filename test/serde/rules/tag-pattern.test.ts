import { expect, it } from 'vitest'
import { matchesTagPattern } from '../../../src/serde/rules/tag-pattern.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'

// Examples from the documentation of Confluent's clients, and boundary cases.
it.each([
  ['eve', 'eve*', true],
  ['alice.bob.eve', 'a*.bob.eve', true],
  ['alice.bob.eve', 'a*.bob.e*', true],
  ['alice.bob.eve', 'a*', false],
  ['alice.bob.eve', 'a**', true],
  ['alice.bob.eve', 'alice.bob*', false],
  ['alice.bob.eve', 'alice.bob**', true],
  ['alice.bob.eve', '**.eve', true],
  ['eve', '**.eve', false],
  ['alice.bob.eve', '**.*', true],
  ['alice.bob', 'alice.bo?', true],
  ['alice.bob', 'alice?bob', false],
  ['$.a.b', '$.a.b', true],
  ['a+b', 'a+b', true],
  ['a*b', 'a\\*b', true],
  ['axb', 'a\\*b', false],
  ['alice', 'lic', false],
])('the name %s matches the pattern %s: %s', (name, pattern, isMatch) => {
  expect(matchesTagPattern(pattern, name)).toBe(isMatch)
})

it('matches a pattern with many wildcards in polynomial time', async () => {
  const match = () => expect(matchesTagPattern(`${'**a'.repeat(200)}b`, 'a'.repeat(2_000))).toBe(false)
  expect(await cpuMsOf(match)).toBeLessThan(10_000)
})
