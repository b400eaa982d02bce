import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LineSplitter } from '../../../src/plugins/connectors/file-stream/line-splitter.ts'
import { propertyRuns } from '../../support/property-seed.ts'

type Line = readonly [line: string, position: number]

/** Feeds the bytes in pieces of these sizes (repeated) and takes lines after each piece. */
function split(bytes: Buffer, sizes: readonly number[], start = 0, takes = 3): readonly Line[] {
  const splitter = new LineSplitter(start)
  const lines: Line[] = []
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    if (splitter.readPosition !== start + at)
      throw new Error(`read position ${splitter.readPosition}, not ${start + at}`)
    const size = bytes.copy(splitter.room(), 0, at, at + (sizes[piece % sizes.length] ?? 1))
    splitter.filled(size)
    at += size
    let batch: Line[]
    do {
      batch = splitter.take(takes, (line, position): Line => [line, position])
      lines.push(...batch)
    } while (batch.length > 0)
  }
  return lines
}

/** The same by a regular expression over the whole: a `\r` at the very end is no end yet. */
function reference(text: string): readonly Line[] {
  const lines: Line[] = []
  let position = 0
  for (const [whole, line = ''] of text.matchAll(/([^\r\n]*)(?:\r\n|\n|\r(?!$))/g)) {
    position += Buffer.byteLength(whole)
    lines.push([line, position])
  }
  return lines
}

const anyText = fc
  .array(fc.constantFrom('a', 'bc', 'é', '€', '😀', '\n', '\r', '\r\n', ' ', '\ufeff'), { maxLength: 60 })
  .map((parts) => parts.join(''))
const anySizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

describe('LineSplitter', () => {
  it('finds the same lines and positions for any division of the input into chunks', () => {
    fc.assert(
      fc.property(anyText, anySizes, fc.integer({ min: 1, max: 4 }), (text, sizes, takes) => {
        expect(split(Buffer.from(text), sizes, 0, takes)).toEqual(reference(text))
      }),
      { numRuns: propertyRuns(150) },
    )
  })

  it('finds the same lines when it starts after any line end', () => {
    fc.assert(
      fc.property(anyText, fc.nat(), (text, pick) => {
        const all = reference(text)
        const from = all.length === 0 ? 0 : pick % all.length
        const start = all[from - 1]?.[1] ?? 0
        expect(split(Buffer.from(text).subarray(start), [7], start)).toEqual(all.slice(from))
      }),
    )
  })

  it('waits for the byte after a carriage return, which may be a line feed', () => {
    expect(split(Buffer.from('a\r'), [1])).toEqual([])
    expect(split(Buffer.from('a\r\nb\n'), [2])).toEqual([
      ['a', 3],
      ['b', 5],
    ])
    expect(split(Buffer.from('a\r\rb\n'), [2])).toEqual([
      ['a', 2],
      ['', 3],
      ['b', 5],
    ])
  })

  it.each(['\r', '\n'])('searches only once for a line end that the input does not contain: %j', (lineEnd) => {
    const splitter = new LineSplitter(0)
    splitter.filled(splitter.room().write(`x${lineEnd}`.repeat(1_000)))
    const search = vi.spyOn(Buffer.prototype, 'indexOf')
    onTestFinished(() => search.mockRestore())
    expect(splitter.take(1_000, (line) => line)).toHaveLength(lineEnd === '\n' ? 1_000 : 999)
    const absent = lineEnd === '\n' ? 13 : 10
    expect(search.mock.calls.filter(([byte]) => byte === absent)).toEqual([])
  })

  it('grows its buffer for a long line, up to a limit', { tags: ['slow'] }, () => {
    const long = 'x'.repeat(3 * 1024 * 1024)
    expect(split(Buffer.from(`a\n${long}\nb\n`), [100_000])).toEqual([
      ['a', 2],
      [long, long.length + 3],
      ['b', long.length + 5],
    ])
    const splitter = new LineSplitter(7)
    const fill = () => splitter.filled(splitter.room().fill(120).length)
    expect(() => {
      for (;;) fill()
    }).toThrow('the line at byte 7 is longer than 67108864 bytes')
  })

  it('replaces invalid UTF-8, and counts the original bytes', () => {
    expect(split(Buffer.from([0x61, 0xff, 0x62, 10]), [4])).toEqual([['a\ufffdb', 4]])
  })
})
