import { expect, it } from 'vitest'
import { parseHeaderRules } from '../../src/http/response-headers.ts'

it('parses the rules of Jetty’s header filter', () => {
  expect(
    parseHeaderRules('set X-A: b:c, "add Cache-Control: no-cache, no-store", setDate Expires: 31540000000'),
  ).toEqual([
    { action: 'set', name: 'X-A', value: 'b:c' },
    { action: 'add', name: 'Cache-Control', value: 'no-cache, no-store' },
    { action: 'setDate', name: 'Expires', value: '31540000000' },
  ])
  expect(parseHeaderRules(' ')).toEqual([])
})

it.each(['put X-A: b', 'set X-A', 'set X A: b', 'setDate Expires: soon'])('rejects %s', (rule) => {
  expect(() => parseHeaderRules(rule)).toThrow(`the header rule '${rule}' is invalid`)
})
