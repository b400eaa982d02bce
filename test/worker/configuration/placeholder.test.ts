import fc from 'fast-check'
import { expect, it } from 'vitest'
import { placeholdersIn, replacePlaceholders } from '../../../src/worker/configuration/placeholder.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'
import { propertyRuns } from '../../support/property-seed.ts'

/** The expression of Kafka's ConfigTransformer. */
const KAFKA = /\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}/g

const texts = fc
  .array(fc.constantFrom('$', '{', '}', ':', '${', 'a', 'b'), { maxLength: 20 })
  .map((parts) => parts.join(''))

it('finds the same placeholders as the expression of Kafka', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const found = [...text.matchAll(KAFKA)].map(([whole, name, path = '', key]) => ({ text: whole, name, path, key }))
      expect(placeholdersIn(text)).toEqual(found)
      expect(replacePlaceholders(text, ({ key }) => `<${key}>`)).toBe(
        text.replace(KAFKA, (_whole, _name, _path, key: string) => `<${key}>`),
      )
    }),
    { numRuns: propertyRuns(2_000) },
  )
})

it.each([
  ['colons', ':'],
  ['opening brackets', '${'],
  ['opening brackets with colons', '${:'],
])('parses a million characters in linear time: %s', async (_what, part) => {
  const parse = () => expect(placeholdersIn(`\${${part.repeat(1_000_000 / part.length)}`)).toEqual([])
  expect(await cpuMsOf(parse)).toBeLessThan(5_000)
})
