import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataRowReader, type DataRows, rowTexts } from '../../../../src/plugins/connectors/postgres/data-rows.ts'
import { MessageFrames } from '../../../../src/plugins/connectors/postgres/message-frames.ts'
import { RowStream } from '../../../../src/plugins/connectors/postgres/row-stream.ts'
import { type RowTexts, readCopyRows } from '../../../../src/plugins/connectors/postgres/row-texts.ts'
import { anyCharacter } from '../../../support/any-character.ts'
import { dataRow } from '../../../support/data-rows.ts'

const cell = fc.option(
  fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('', '\\N', '\\', '\t\n\r\v\b\f', 'é𝄞', 'x'.repeat(300))),
  { nil: null },
)

describe('MessageFrames', () => {
  it.each([
    ['a copy', 'd', copyFrame, readCopied],
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
    expect(() => readFrames(row, [100], 'D', readDataRows)).toThrow('does not have 1 cells within its message')
  })

  it('refuse rows that the messages do not separate', () => {
    expect(() => readFrames(frame('d', Buffer.from('a\tb\na\tb\n')), [100], 'd', readCopied)).toThrow('several rows')
    expect(() => readFrames(frame('d', Buffer.from('a\tb')), [100], 'd', readCopied)).toThrow('a part of a row')
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
    const { stream, read, socket, errors } = openStream()
    const broken = rowFrame(['b'])
    broken.writeInt32BE(30, 7)
    for (const bytes of [rowFrame(['a']), broken, rowFrame(['c'])]) socket.emit('data', bytes)
    expect(await read(1, 10)).toEqual([['a']])
    await expect(stream.read(1, 10)).rejects.toThrow('could not read rows')
    await expect
      .poll(() => errors)
      .toEqual([expect.objectContaining({ message: expect.stringMatching('does not have 1 cells') })])
  })

  it('joins rows that arrived separately, and divides rows that arrived together', async () => {
    const { stream, read, socket } = openStream()
    const rows = Array.from({ length: 10 }, (_, id) => [String(id), null, 'é'])
    for (const row of rows.slice(0, 3)) socket.emit('data', rowFrame(row))
    socket.emit('data', Buffer.concat(rows.slice(3).map(rowFrame)))
    stream.handleReadyForQuery()
    expect(await read(4, 4)).toEqual(rows.slice(0, 4))
    expect(await read(4, 4)).toEqual(rows.slice(4, 8))
    expect(await read(4, 4)).toEqual(rows.slice(8))
    expect(await read(4, 4)).toBeUndefined()
  })

  it('fails at a row with another number of cells', async () => {
    const { read, socket, errors } = openStream()
    socket.emit('data', Buffer.concat([rowFrame(['a', 'b']), rowFrame(['c']), rowFrame(['d', 'e'])]))
    expect(await read(1, 10)).toEqual([['a', 'b']])
    await expect(read(1, 10)).rejects.toThrow('does not have 2 cells')
    await expect.poll(() => errors).toHaveLength(1)
  })

  it('pauses the socket while many bytes wait, and returns as many rows as the reader requests', async () => {
    const { stream, read, socket } = openStream()
    const rows = Array.from({ length: 1_200 }, (_, id) => [String(id), 'x'.repeat(1_000)])
    for (const row of rows) socket.emit('data', rowFrame(row))
    expect(socket.isPaused()).toBe(true)
    expect(await read(500, 500)).toEqual(rows.slice(0, 500))
    expect(socket.isPaused()).toBe(false)
    stream.handleReadyForQuery()
    expect(await read(1_000, 1_000)).toEqual(rows.slice(500))
    expect(await read(1_000, 1_000)).toBeUndefined()
  })
})

/** A stream whose socket receives what the test emits. */
function openStream() {
  const socket = new PassThrough()
  const errors: unknown[] = []
  socket.on('error', (error) => errors.push(error))
  socket.on('data', () => undefined)
  const reader = new DataRowReader()
  const stream = new RowStream<DataRows>({
    operation: 'read rows',
    text: '',
    values: [],
    rowType: 'D'.charCodeAt(0),
    decode: (bytes, rowsMax) => reader.read(bytes, rowsMax),
    keyNames: undefined,
  })
  const ignore = () => undefined
  const connection = { parse: ignore, bind: ignore, describe: ignore, execute: ignore, sync: ignore }
  stream.submit({ ...connection, stream: socket as unknown as Socket })
  const read = async (rowsMin: number, rowsMax: number) => {
    const rows = await stream.read(rowsMin, rowsMax)
    return rows && textsOf(rows)
  }
  return { stream, read, socket, errors }
}

function textsOf(rows: DataRows): readonly RowTexts[] {
  return Array.from({ length: rows.rows }, (_, row) => rowTexts(rows, row))
}

function readCopied(bytes: Buffer): readonly RowTexts[] {
  return readCopyRows(bytes).rows
}

function readDataRows(bytes: Buffer): readonly RowTexts[] {
  return textsOf(new DataRowReader().read(bytes, Number.POSITIVE_INFINITY).rows)
}

function readFrames(
  bytes: Buffer,
  sizes: readonly number[],
  type: string,
  readRows: (bytes: Buffer) => readonly RowTexts[],
) {
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
  return frame('D', dataRow(row))
}
