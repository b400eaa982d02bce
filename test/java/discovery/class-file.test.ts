import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseClassFile } from '../../../src/java/discovery/class-file.ts'
import { classFile } from '../../support/jars.ts'

describe('the header of a class file', () => {
  it('has the name, the parents and the Java version', () => {
    const bytes = classFile({ name: 'a.B$C', extends: 'x.Y', implements: ['p.Q', 'p.R'], javaVersion: 21 })
    expect(parseClassFile(bytes)).toEqual({
      name: 'a.B$C',
      parents: ['x.Y', 'p.Q', 'p.R'],
      isCreatable: true,
      javaVersion: 21,
    })
  })

  it.each([
    ['abstract', { isAbstract: true }],
    ['not public', { isPrivate: true }],
    ['without a constructor that has no parameters', { constructorType: '(I)V' }],
  ])('says that a class that is %s cannot be created', (_, trait) => {
    expect(parseClassFile(classFile({ name: 'a.B', ...trait })).isCreatable).toBe(false)
  })

  it('is refused when it is damaged, with a RangeError and in linear time', () => {
    const bytes = classFile({ name: 'a.B', implements: ['p.Q'] })
    const damaged = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(bytes.length))
    fc.assert(
      fc.property(damaged, ([at, value, length]) => {
        const copy = Buffer.from(bytes.subarray(0, length))
        if (at < length) copy[at] = value
        try {
          parseClassFile(copy)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
    expect(() => parseClassFile(Buffer.from('not a class'))).toThrow('it is not a class file')
  })
})
