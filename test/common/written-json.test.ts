import { expect, it } from 'vitest'
import { isWrittenNumber, parseJsonAsWritten, printJsonAsWritten } from '../../src/common/written-json.ts'

it.each([
  '{"a":1.0,"b":[-0,1e3,{"c":-1E-7}],"d":0.10}',
  '[12345678901234567890123,9007199254740993]',
  '{"text":"[1.0,-0]","large":1e400}',
])('prints the numbers of %s as they were written, also from a structured clone', (text) => {
  expect(printJsonAsWritten(parseJsonAsWritten(text))).toBe(text)
  expect(printJsonAsWritten(structuredClone(parseJsonAsWritten(text)))).toBe(text)
})

it('parses other numbers and texts as JSON.parse does', () => {
  const text = '[1.5,10,-3,0.25,"1.0","-0",null,{"a": 9007199254740991}]'
  expect(parseJsonAsWritten(text)).toEqual(JSON.parse(text))
  const [one, two] = parseJsonAsWritten('[ 1.0 , "1.0"]') as unknown[]
  expect([isWrittenNumber(one), isWrittenNumber(two)]).toEqual([true, false])
})
