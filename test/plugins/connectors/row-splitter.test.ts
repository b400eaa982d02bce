import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RowSplitter, type TextRow } from '../../../src/plugins/connectors/directory/row-splitter.ts'

describe('RowSplitter', () => {
  it('ends rows at \\n and \\r\\n, and returns a last row without a line end', () => {
    expect(texts(split(['a\nb\r\n\nc\rd']))).toEqual(['a', 'b', '', 'c\rd'])
    expect(split(['a\nbü\r\n', 'c'], { position: 10 }).map(({ position }) => position)).toEqual([12, 17, 18])
  })

  it('returns a row of several lines if a quote is open', () => {
    expect(texts(split(['a,"x\ny ""z"""\nb\n'], { quote: '"' }))).toEqual(['a,"x\ny ""z"""', 'b'])
    expect(texts(split(['a,"x\ny"\n']))).toEqual(['a,"x', 'y"'])
  })

  it('limits a quote that is never closed to its own line', () => {
    expect(texts(split(['1,"x\n2\n3,"y\n4\n', '5,"z\n6\n7'], { quote: '"' }))).toEqual([
      '1,"x\n2\n3,"y',
      '4',
      '5,"z',
      '6',
      '7',
    ])
    const long = `1,"x\n${'2\n'.repeat(50)}`
    expect(texts(split([long], { quote: '"', rowBytesMax: 20 }))).toEqual(['1,"x', ...Array(50).fill('2')])
  })

  it('returns an excerpt of a row that is too long, for any division into chunks', () => {
    const rows = (chunks: readonly string[]) => split(chunks, { rowBytesMax: 10 })
    const expected = [
      { text: 'a', start: 0, position: 2 },
      { text: expect.stringMatching(/^x{1,30}$/), start: 2, position: 33, isTooLong: true },
      { text: 'b', start: 33, position: 35 },
    ]
    const text = `a\n${'x'.repeat(30)}\nb\n`
    expect(rows([text])).toEqual(expected)
    expect(rows([...text])).toEqual(expected)
    expect(rows(['x'.repeat(11)])).toEqual([{ text: 'x'.repeat(11), start: 0, position: 11, isTooLong: true }])
  })

  it('returns the same rows for any division into chunks, and when it starts after any row', () => {
    const piece = fc.constantFrom('a', 'é', ',', '"', '""', '\n', '\r\n', '"x\ny"', '1,2\n')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(), (pieces, at) => {
        const text = pieces.join('')
        const whole = split([text], { quote: '"' })
        expect(
          split(
            [...Buffer.from(text)].map((byte) => Buffer.of(byte)),
            { quote: '"' },
          ),
        ).toEqual(whole)
        expect(whole.at(-1)?.position ?? 0).toBe(Buffer.byteLength(text))
        const from = whole[at % Math.max(1, whole.length)]?.position ?? 0
        const rest = split([Buffer.from(text).subarray(from)], { quote: '"', position: from })
        expect(rest).toEqual(whole.filter(({ position }) => position > from))
      }),
    )
  })
})

type Own = { readonly position?: number; readonly quote?: string; readonly rowBytesMax?: number }

function split(chunks: readonly (string | Buffer)[], own: Own = {}): readonly TextRow[] {
  const splitter = new RowSplitter({ position: 0, rowBytesMax: 1_000, ...own })
  return [...chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk))), ...splitter.end()]
}

function texts(rows: readonly TextRow[]): readonly string[] {
  return rows.map(({ text }) => text)
}
