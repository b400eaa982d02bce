import { describe, expect, it } from 'vitest'
import { JsonNumber } from '../../../src/formats/json-text.ts'
import { jsonReader, parseExact } from '../../../src/java-compat/json/connect-json-reader.ts'
import { BYTES, decimal } from '../../../src/sdk/index.ts'

describe('parseExact', () => {
  it('keeps integers of any length exact, wherever they are in the text', { tags: ['slow'] }, () => {
    for (let before = 0; before < 40; before++) {
      for (let digits = 1; digits < 40; digits++) {
        const literal = '1234567890'.repeat(4).slice(0, digits)
        const exact = Number.isSafeInteger(Number(literal)) ? Number(literal) : BigInt(literal)
        expect(parseExact(`["${'x'.repeat(before)}",${literal}]`)).toEqual(['x'.repeat(before), exact])
        expect(parseExact(`[${' '.repeat(before)}-${literal},1.5]`)).toEqual([-exact, 1.5])
      }
    }
  })

  it('keeps the literal of a fraction that a double cannot represent exactly', () => {
    for (let before = 0; before < 40; before++) {
      const space = ' '.repeat(before)
      expect(parseExact(`${space}0.12345678901234567`)).toEqual(new JsonNumber('0.12345678901234567'))
      expect(parseExact(`${space}1.2345678901234`)).toBe(1.2345678901234)
    }
  })
})

describe('jsonReader', () => {
  it('reads base64 with line ends', () => {
    expect(jsonReader(BYTES, { nullsToDefaults: true })('aGVs\r\nbG8=\n')).toEqual(Buffer.from('hello'))
    expect(jsonReader(decimal(2), { nullsToDefaults: true })('BNI=')).toEqual({ unscaled: 1234n, scale: 2 })
  })

  it.each(['12.34', '-5', 'aGVsbG8', 'aGVs-_8=', 'aGVsbG8==', '=', 'aGV=bG8='])(
    'rejects text that is not base64: %s',
    (text) => {
      for (const schema of [BYTES, decimal(2)]) {
        const read = () => jsonReader(schema, { nullsToDefaults: true })(text)
        expect(read).toThrow(`expected ${schema.name ?? schema.type} in base64, got the string '${text}'`)
      }
    },
  )
})
