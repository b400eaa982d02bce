import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { objectNameOf, objectNamesOf } from '../../../src/cli/manifests/resource-names.ts'
import { anyCharacter } from '../../support/any-character.ts'
import { propertyRuns } from '../../support/property-seed.ts'

/** As the API server requires it (RFC 1123). */
const VALID = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const subjects = (originals: readonly string[]) =>
  originals.map((original) => ({ kind: 'Subject', namespace: undefined, original }))

describe('the name of an object', () => {
  it.each([
    ['orders-value', 'orders-value'],
    ['Orders_Value', 'orders-value'],
    [':.ctx:orders', 'ctx-orders'],
    ['subject-:.ctx:orders', 'subject.ctx-orders'],
    ['a..b-.c', 'a.b.c'],
  ])('of %s is %s', (original, name) => {
    expect(objectNameOf(original)).toBe(name)
  })

  it('is valid in Kubernetes for each original', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: anyCharacter, maxLength: 400 }), fc.stringMatching(/^[aA.-]{1,6}$/)),
        (original) => {
          const name = objectNameOf(original)
          expect(name).toMatch(VALID)
          expect(name.length).toBeLessThanOrEqual(253)
        },
      ),
      { numRuns: propertyRuns(200) },
    )
  })

  it('is unique and independent of the order and of the number of other objects', () => {
    const originals = fc.uniqueArray(fc.stringMatching(/^[aA_-]{1,4}$/), { maxLength: 8 })
    fc.assert(
      fc.property(originals, (all) => {
        const names = objectNamesOf(subjects(all))
        expect(new Set(names).size).toBe(all.length)
        expect(objectNamesOf(subjects(all.toReversed()))).toEqual(names.toReversed())
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})
