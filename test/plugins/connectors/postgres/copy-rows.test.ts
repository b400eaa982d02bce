import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RowTexts } from '../../../../src/plugins/connectors/jdbc/row-texts.ts'
import { readCopyRows } from '../../../../src/plugins/connectors/postgres/copy-rows.ts'
import { anyCharacter } from '../../../support/any-character.ts'

const cell = fc.option(
  fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('', '\\N', '\\', '\t\n\r\v\b\f', 'é𝄞', 'x'.repeat(300))),
  { nil: null },
)

const ESCAPES: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
}

/** A row as the server sends it for `COPY … TO STDOUT`. */
function copied(row: RowTexts): Buffer {
  const cells = row.map((text) => text?.replace(/[\b\f\n\r\t\v\\]/g, (letter) => ESCAPES[letter]!) ?? '\\N')
  return Buffer.from(`${cells.join('\t')}\n`)
}

async function readAll(bytes: Buffer, sizes: readonly number[], error?: Error): Promise<readonly RowTexts[]> {
  async function* chunks() {
    for (let at = 0, index = 0; at < bytes.length; index += 1) {
      const size = sizes[index % sizes.length]!
      yield bytes.subarray(at, at + size)
      at += size
    }
    if (error !== undefined) throw error
  }
  const rows: RowTexts[] = []
  for await (const read of readCopyRows(chunks(), (cause) => new Error('could not read', { cause }))) rows.push(...read)
  return rows
}

describe('the rows of a COPY', () => {
  it('are read however the bytes are divided', async () => {
    const written = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(written, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), async (rows, sizes) => {
        const clean = rows.map((row) => row.map((text) => text?.replaceAll('\0', '') ?? null))
        expect(await readAll(Buffer.concat(clean.map(copied)), sizes)).toEqual(clean)
      }),
    )
  })

  it('are refused without the end of the last one, and with the error of the stream', async () => {
    await expect(readAll(Buffer.from('a\tb\nc'), [100])).rejects.toThrow('the server sent a row without its end')
    await expect(readAll(copied(['a']), [100], new Error('lost'))).rejects.toThrow('could not read')
  })
})
