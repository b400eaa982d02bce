import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type JsonTextLimits, limitJsonTexts } from '../../src/clients/limit-json-texts.ts'
import { arbitraryText } from '../support/arbitrary-text.ts'
import { propertyRuns } from '../support/property-seed.ts'

async function limited(json: string, limits: JsonTextLimits, chunkBytes = 65_536): Promise<string> {
  const bytes = Buffer.from(json)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
  const parts: Buffer[] = []
  for await (const part of limitJsonTexts(chunks(), limits)) parts.push(part)
  return Buffer.concat(parts).toString()
}

const NO_TOTAL = Number.POSITIVE_INFINITY

it('keeps the beginning and the end of a long string, cut at line breaks', async () => {
  const trace = `Error: first\n${'\tat frame\n'.repeat(100_000)}Caused by: last\n`
  const json = await limited(JSON.stringify({ trace, message: trace }), {
    bytesMax: { trace: 1_024 },
    totalBytesMax: NO_TOTAL,
  })
  const { trace: kept, message } = JSON.parse(json)
  expect(message).toBe(trace)
  expect(Buffer.byteLength(kept)).toBeLessThan(1_100)
  expect(kept).toMatch(
    /^Error: first\n(\tat frame\n)+\tat frame… \(\d+ more bytes\) …\n(\tat frame\n)+Caused by: last\n$/,
  )
})

it('limits the strings of an array by the name of the array', async () => {
  const [long, short] = ['x'.repeat(1_000), 'y'.repeat(256)]
  const json = await limited(JSON.stringify({ errors: [long, short], other: { [short]: long } }), {
    bytesMax: { errors: 256 },
    totalBytesMax: NO_TOTAL,
  })
  expect(JSON.parse(json)).toEqual({
    errors: [expect.stringMatching(/^x{128}… \(\d+ more bytes\) …x{122}$/), short],
    other: { [short]: long },
  })
})

it('limits all strings together: after that, each one keeps 256 bytes', async () => {
  const traces = Array.from({ length: 1_000 }, () => ({ trace: 'x'.repeat(10_000) }))
  const limits = { bytesMax: { trace: 4_096 }, totalBytesMax: 65_536 }
  const json = await limited(JSON.stringify(traces), limits)
  expect(JSON.parse(json)).toHaveLength(1_000)
  expect(json.length).toBeLessThan(65_536 + 4_096 + 1_000 * 320)
})

it('passes on what is not JSON', async () => {
  const limits = { bytesMax: { '*': 256 }, totalBytesMax: NO_TOTAL }
  for (const text of ['', '<html>"', '"', '{"a":"', '{"a":"\\', '{,"'.repeat(1_000)])
    expect(await limited(text, limits)).toBe(text)
})

it('returns the same document with shortened strings, however it is divided', { tags: ['slow'] }, async () => {
  const texts = fc.oneof(
    arbitraryText({ maxLength: 20 }),
    fc
      .tuple(arbitraryText({ maxLength: 8 }), fc.integer({ min: 0, max: 400 }))
      .map(([text, times]) => text.repeat(times)),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      texts,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom('trace', 'a', '"', 'é\\'), tie('value')),
    ),
  }))
  const escaped = (json: string) =>
    json.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const property = fc.asyncProperty(
    value,
    fc.integer({ min: 1, max: 700 }),
    fc.boolean(),
    async (document, chunkBytes, isEscaped) => {
      const json = JSON.stringify({ root: document })
      const limits = { bytesMax: { trace: 300, '*': 400 }, totalBytesMax: NO_TOTAL }
      const kept = await limited(isEscaped ? escaped(json) : json, limits, chunkBytes)
      assertShortened(JSON.parse(kept), JSON.parse(json))
    },
  )
  await fc.assert(property, { numRuns: propertyRuns(1_000) })
})

function assertShortened(kept: unknown, original: unknown): void {
  if (typeof original === 'string') {
    const [, beginning, omitted, end] = /^(.*)… \((\d+) more bytes\) …(.*)$/s.exec(kept as string) ?? []
    if (kept === original) return
    expect(omitted).toBeDefined()
    // Half of a surrogate pair that was escaped as two characters.
    expect(original.startsWith(beginning!)).toBe(true)
    expect(original.endsWith(end!)).toBe(true)
    return
  }
  if (typeof original !== 'object' || original === null) {
    expect(kept).toEqual(original)
    return
  }
  expect(Object.keys(kept as object)).toEqual(Object.keys(original))
  for (const [name, value] of Object.entries(original)) assertShortened((kept as Record<string, unknown>)[name], value)
}
