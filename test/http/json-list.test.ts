import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { streamJsonList } from '../../src/http/json-list.ts'

it('writes the same text as JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.object()), async (items) => {
      expect(await text(streamJsonList(items))).toBe(JSON.stringify(items))
    }),
  )
})

it('consumes the list only as fast as its reader reads', async () => {
  let consumed = 0
  const endless = (function* () {
    for (;;) yield { number: ++consumed, text: 'x'.repeat(10_000) }
  })()
  const stream = streamJsonList(endless)
  for await (const chunk of stream) {
    expect(chunk.length).toBeLessThan(100_000)
    if (consumed > 50) break
  }
  expect(consumed).toBeLessThan(100)
})
