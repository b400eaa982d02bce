import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FrameReader } from '../../src/java/frame-reader.ts'
import { FRAME, FrameSplitter, frameHeader, type HostFrame } from '../../src/java/frame-splitter.ts'
import { FrameWriter } from '../../src/java/frame-writer.ts'
import { ProtocolError, VALUE_TAG } from '../../src/java/host-protocol.ts'
import { ReceivedSchemas, SentSchemas } from '../../src/java/schema-exchange.ts'
import { type Data, dataWithoutSchema, dataWithSchema } from '../support/connect-data.ts'

/** The schema frames and the frame that one side sends for a value. */
function encode({ schema, value }: Data): { readonly definitions: ReadonlyMap<number, Buffer>; readonly body: Buffer } {
  const definitions = new Map<number, Buffer>()
  const sent = new SentSchemas({
    define: (id, definition) => definitions.set(id, Buffer.from(definition)),
    forgetAll: () => definitions.clear(),
  })
  const writer = new FrameWriter((inner) => sent.idOf(inner))
  writer.schema(schema)
  writer.value(schema, value)
  return { definitions, body: Buffer.from(writer.bytes) }
}

function decode({ definitions, body }: ReturnType<typeof encode>): Data {
  const received = new ReceivedSchemas()
  for (const [id, definition] of definitions) received.define(id, definition)
  const reader = new FrameReader(body, received.get)
  const schema = reader.schema()
  return { schema, value: reader.value(schema) }
}

const anyData = fc.oneof(dataWithSchema, dataWithoutSchema)

describe('the body of a frame', () => {
  it('decodes to the encoded value and schema', () => {
    fc.assert(
      fc.property(anyData, (data) => {
        expect(decode(encode(data))).toEqual(data)
      }),
    )
  })

  it('throws a ProtocolError wherever it is cut off', () => {
    const cut = fc.tuple(anyData, fc.nat()).map(([data, at]) => {
      const { definitions, body } = encode(data)
      return { definitions, body: body.subarray(0, at % body.length) }
    })
    fc.assert(
      fc.property(cut, (frame) => {
        expect(() => decode(frame)).toThrow(ProtocolError)
      }),
    )
  })

  it('decodes to some value or throws a ProtocolError when a byte is changed', () => {
    const changed = fc.tuple(anyData, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([data, at, mask]) => {
      const { definitions, body } = encode(data)
      body[at % body.length]! ^= mask
      return { definitions, body }
    })
    fc.assert(
      fc.property(changed, (frame) => {
        try {
          decode(frame)
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError)
        }
      }),
    )
  })
})

it('FrameReader throws a ProtocolError for a decimal without digits', () => {
  const body = Buffer.from([0, VALUE_TAG.decimal, 0, 0, 0, 2, 0])
  expect(() => decode({ definitions: new Map(), body })).toThrow(ProtocolError)
})

describe('FrameSplitter', () => {
  it('returns the same frames however the stream is divided', () => {
    const frames: readonly HostFrame[] = [
      { type: FRAME.hello, id: 0, body: Buffer.from([1, 2, 3]) },
      { type: FRAME.event, id: 7, body: Buffer.alloc(0) },
      { type: FRAME.response, id: 2 ** 30, body: Buffer.alloc(1_000, 5) },
    ]
    const stream = Buffer.concat(frames.flatMap(({ type, id, body }) => [frameHeader(type, id, body.length), body]))
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 20 }), (sizes) => {
        const splitter = new FrameSplitter(10_000)
        const received: HostFrame[] = []
        let at = 0
        for (const size of [...sizes, stream.length]) {
          for (const frame of splitter.push(stream.subarray(at, at + size))) {
            received.push({ ...frame, body: Buffer.from(frame.body) })
          }
          at = Math.min(at + size, stream.length)
        }
        expect(received).toEqual(frames)
      }),
    )
  })

  it.each([-1, 0, 4, 101])('throws a ProtocolError for a frame of %i bytes before its body arrives', (length) => {
    const header = Buffer.alloc(4)
    header.writeInt32BE(length)
    expect(() => [...new FrameSplitter(100).push(header)]).toThrow(ProtocolError)
  })
})
