import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MessageFrames } from '../../../../src/plugins/connectors/postgres/message-frames.ts'
import { RowStream } from '../../../../src/plugins/connectors/postgres/row-stream.ts'
import {
  type ReadRows,
  type RowTexts,
  readCopyRows,
  readDataRows,
} from '../../../../src/plugins/connectors/postgres/row-texts.ts'
import { anyCharacter } from '../../../support/any-character.ts'

const cell = fc.option(
  fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('', '\\N', '\\', '\t\n\r\v\b\f', 'é𝄞', 'x'.repeat(300))),
  { nil: null },
)

describe('MessageFrames', () => {
  it.each([
    ['a copy', 'd', copyFrame, readCopyRows],
    ['a query', 'D', rowFrame, readDataRows],
  ] as const)('give the rows of %s, however the bytes are divided', (_, type, toFrame, readRows) => {
    const rows = fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 20 })
    fc.assert(
      fc.property(rows, fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (written, sizes) => {
        const clean = written.map((row) => row.map((text) => text?.replaceAll('\0', '') ?? null))
        const start = frame('H', Buffer.from([0, 0, 3, 0, 0, 0, 0, 0, 0]))
        const bytes = Buffer.concat([start, ...clean.map(toFrame), frame('c'), frame('Z', Buffer.from('I'))])
        const { read, passedOn } = readFrames(bytes, sizes, type, readRows)
        expect(read).toEqual(clean)
        expect(passedOn).toBe('HcZ')
      }),
    )
  })

  it('give more rows at once than there is room for at first', () => {
    const rows = Array.from({ length: 5_000 }, (_, id) => [String(id), null, ''])
    const bytes = Buffer.concat(rows.map(rowFrame))
    expect(readFrames(bytes, [bytes.length], 'D', readDataRows).read).toEqual(rows)
  })

  it('refuse a row of a query that ends behind its message', () => {
    const row = rowFrame(['abc'])
    row.writeInt32BE(30, 7)
    expect(() => readFrames(row, [100], 'D', readDataRows)).toThrow('a cell that ends behind its message')
  })

  it('refuse rows that the messages do not separate', () => {
    expect(() => readFrames(frame('d', Buffer.from('a\tb\na\tb\n')), [100], 'd', readCopyRows)).toThrow('several rows')
    expect(() => readFrames(frame('d', Buffer.from('a\tb')), [100], 'd', readCopyRows)).toThrow('a part of a row')
  })

  it('pass on the beginning of a message that has not arrived as a whole', () => {
    const passedOn: Buffer[] = []
    const frames = new MessageFrames(
      0x64,
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

describe('RowStream', () => {
  it('returns the rows before bytes that it cannot decode, and then fails without those behind them', async () => {
    const { stream, socket, errors } = openStream()
    const broken = rowFrame(['b'])
    broken.writeInt32BE(30, 7)
    for (const bytes of [rowFrame(['a']), broken, rowFrame(['c'])]) socket.emit('data', bytes)
    expect(await stream.read(1, 10)).toEqual([['a']])
    await expect(stream.read(1, 10)).rejects.toThrow('could not read rows')
    await expect
      .poll(() => errors)
      .toEqual([expect.objectContaining({ message: expect.stringMatching('a cell that') })])
  })

  it('pauses the socket while many bytes wait, and returns as many rows as the reader requests', async () => {
    const { stream, socket } = openStream()
    const rows = Array.from({ length: 1_200 }, (_, id) => [String(id), 'x'.repeat(1_000)])
    for (const row of rows) socket.emit('data', rowFrame(row))
    expect(socket.isPaused()).toBe(true)
    expect(await stream.read(500, 500)).toEqual(rows.slice(0, 500))
    expect(socket.isPaused()).toBe(false)
    stream.handleReadyForQuery()
    expect(await stream.read(1_000, 1_000)).toEqual(rows.slice(500))
    expect(await stream.read(1_000, 1_000)).toEqual([])
  })
})

/** A stream whose socket receives what the test emits. */
function openStream() {
  const socket = new PassThrough()
  const errors: unknown[] = []
  socket.on('error', (error) => errors.push(error))
  socket.on('data', () => undefined)
  const stream = new RowStream({
    operation: 'read rows',
    text: '',
    values: [],
    rowType: 'D'.charCodeAt(0),
    readRows: readDataRows,
    keyNames: undefined,
  })
  const ignore = () => undefined
  const connection = { parse: ignore, bind: ignore, describe: ignore, execute: ignore, sync: ignore }
  stream.submit({ ...connection, stream: socket as unknown as Socket })
  return { stream, socket, errors }
}

function readFrames(bytes: Buffer, sizes: readonly number[], type: string, readRows: ReadRows) {
  const read: RowTexts[] = []
  let passedOn = ''
  const frames = new MessageFrames(
    type.charCodeAt(0),
    (message) => {
      passedOn += String.fromCharCode(message[0]!)
    },
    (together, count) => {
      const rows = readRows(together)
      expect(rows).toHaveLength(count)
      read.push(...rows)
    },
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

/** The protocol message in which the server sends a row of `COPY … TO STDOUT`. */
function copyFrame(row: RowTexts): Buffer {
  const cells = row.map((text) => text?.replace(/[\b\f\n\r\t\v\\]/g, (letter) => ESCAPES[letter]!) ?? '\\N')
  return frame('d', Buffer.from(`${cells.join('\t')}\n`))
}

/** The protocol message in which the server sends a row of a query. */
function rowFrame(row: RowTexts): Buffer {
  const cells = row.map((text) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(text === null ? -1 : Buffer.byteLength(text))
    return Buffer.concat([length, Buffer.from(text ?? '')])
  })
  return frame('D', Buffer.concat([Buffer.from([row.length >> 8, row.length & 255]), ...cells]))
}
