import { describe, expect, it } from 'vitest'
import { parseCoordinates } from '../../../src/java/maven/coordinates.ts'

describe('coordinates', () => {
  it.each(['a:b', 'a:b:1:c', 'a:b:LATEST', 'a:b:1-SNAPSHOT', '../a:b:1', 'a:b/c:1', 'a:..:1', 'a:b:1..2'])(
    '%s are refused',
    (text) => {
      expect(() => parseCoordinates(text)).toThrow(`'${text}'`)
    },
  )
})
