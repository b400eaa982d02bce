import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CopyFrames, type CopyRow } from '../../../../src/plugins/connectors/postgres/copy-out.ts'
import { anyCharacter } from '../../../support/any-character.ts'

const cell = fc.option(
  fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('', '\\N', '\\', '\t\n\r\v\b\f', 'é𝄞', 'x'.repeat(300))),
  { nil: null },
)

describe('CopyFrames', () => {
  it('gives the rows of a copy, however the bytes are divided', () => {
    const rows = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 20 })
    fc.assert(
      fc.property(rows, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (written, sizes) => {
        const clean = written.map((row) => row.map((text) => text?.replaceAll('\0', '') ?? null))
        const start = frame('H', Buffer.from([0, 0, 3, 0, 0, 0, 0, 0, 0]))
        const bytes = Buffer.concat([start, ...clean.map(dataFrame), frame('c'), frame('Z', Buffer.from('I'))])
        const { read, passedOn } = readFrames(bytes, sizes)
        expect(read).toEqual(clean)
        expect(passedOn).toBe('HcZ')
      }),
    )
  })

  it('refuse rows that the messages do not separate', () => {
    expect(() => readFrames(frame('d', Buffer.from('a\tb\na\tb\n')), [100])).toThrow('several rows')
    expect(() => readFrames(frame('d', Buffer.from('a\tb')), [100])).toThrow('a part of a row')
  })

  it('pass on the beginning of a message that has not arrived as a whole', () => {
    const passedOn: Buffer[] = []
    const frames = new CopyFrames(
      (bytes) => void passedOn.push(Buffer.from(bytes)),
      () => undefined,
    )
    const last = frame('Z', Buffer.from('I'))
    frames.push(last.subarray(0, 3))
    expect(passedOn).toEqual([])
    frames.flush()
    expect(passedOn).toEqual([last.subarray(0, 3)])
  })
})

function readFrames(bytes: Buffer, sizes: readonly number[]) {
  const read: CopyRow[] = []
  let passedOn = ''
  const frames = new CopyFrames(
    (message) => {
      passedOn += String.fromCharCode(message[0]!)
    },
    (rows) => void read.push(...rows),
  )
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length]!
    // A copy, because the frames overwrite the bytes.
    frames.push(Buffer.from(bytes.subarray(at, at + size)))
    at += size
  }
  return { read, passedOn }
}

function frame(type: string, content: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(5)
  header.write(type, 'latin1')
  header.writeUInt32BE(content.length + 4, 1)
  return Buffer.concat([header, content])
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
}

/** A row as the server writes it. */
function dataFrame(row: CopyRow): Buffer {
  const cells = row.map((text) => text?.replace(/[\b\f\n\r\t\v\\]/g, (letter) => ESCAPES[letter]!) ?? '\\N')
  return frame('d', Buffer.from(`${cells.join('\t')}\n`))
}
