import { describe, expect, it } from 'vitest'
import { SchemaTexts } from '../../../src/registry/store/schema-texts.ts'

const LONG = 'x'.repeat(50_000)

describe('the texts of schemas', () => {
  it('are read as they were added, also when their block is compressed', () => {
    const texts = new SchemaTexts(2)
    const written = Array.from({ length: 200 }, (_, at) => [`"${at}"`.repeat(300), 'ä€😀', '\ud800', '', LONG][at % 5]!)
    const stored = written.map((text) => texts.add(text))
    expect(stored.map((one) => texts.read(one))).toEqual(written)
    expect(stored.toReversed().map((one) => texts.read(one))).toEqual(written.toReversed())
  })

  it('are compressed together, in a fraction of their size', () => {
    const texts = new SchemaTexts(1)
    const blocks = new Set(
      Array.from({ length: 300 }, (_, at) => texts.add(`{"name":"s${at}","type":"int"}`.repeat(10)).block),
    )
    const closed = [...blocks].filter(({ open }) => open === undefined)
    expect(closed.length).toBe(blocks.size - 1)
    for (const { bytes, chars } of closed) expect(bytes.length).toBeLessThan(chars / 5)
  })
})
