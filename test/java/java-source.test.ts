import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ConnectorChains } from '../../src/java/connector-chains.ts'
import { FrameReader } from '../../src/java/frame-reader.ts'
import { FRAME, FrameSplitter, frameHeader, type HostFrame } from '../../src/java/frame-splitter.ts'
import { FrameWriter } from '../../src/java/frame-writer.ts'
import { javaSource } from '../../src/java/java-source.ts'
import type { SourceContext, SourceRecord, StoredListener } from '../../src/sdk/index.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const FRAME_BYTES_MAX = 1024

/** A Java host that answers each request with null, and sends one batch with one record. */
async function startHost() {
  const received: string[] = []
  const onConnection = (socket: Socket) => {
    const send = (type: number, id: number, fill: (body: FrameWriter) => void) => {
      const writer = new FrameWriter(() => 0)
      fill(writer)
      socket.write(Buffer.concat([frameHeader(type, id, writer.length), writer.bytes]))
    }
    const onFrame = ({ type, id, body }: HostFrame) => {
      if (type === FRAME.hello) return
      const name = new FrameReader(body, () => ({ type: 'string' })).string()
      received.push(name)
      if (type === FRAME.request) send(FRAME.response, id, (answer) => answer.uint8(0))
      if (name === 'source.start') send(FRAME.event, 0, writeBatch)
    }
    const splitter = new FrameSplitter(FRAME_BYTES_MAX)
    socket.on('data', (chunk) => splitter.push(chunk).forEach(onFrame))
    send(FRAME.hello, 0, (body) => body.varint(1))
  }
  const socketPath = join(temporaryDirectory(), 'host.sock')
  const server = createServer(onConnection).listen(socketPath)
  onTestFinished(() => void server.close())
  return { received, address: { socketPath, token: 'token' } }
}

function writeBatch(body: FrameWriter): void {
  body.string('source.batch')
  body.int64(1)
  // A record without a transaction end: topic, partition, timestamp, key, value and headers, partition and offset of the source.
  body.uint8(1)
  body.uint8(0)
  body.value(null, 'lines')
  for (let empty = 0; empty < 7; empty++) body.uint8(0)
  body.value(null, { file: 'a' })
  body.value(null, { line: 1 })
  body.uint8(0)
  body.uint8(0)
}

it('a Java source is stopped only when its last records have been reported as stored and committed', async () => {
  const { received, address } = await startHost()
  const ending = new AbortController()
  let stored: StoredListener | undefined
  let committed: (() => void) | undefined
  const context = {
    ...{ connector: 'lines', task: 0, raw: {}, signal: ending.signal, isExactlyOnce: false },
    onStored: (listener: StoredListener) => {
      stored = listener
    },
    onCommitted: (listener: () => void) => {
      committed = listener
    },
  } as unknown as SourceContext<Record<string, unknown>>
  const description = { kind: 'source', class: 'Lines', version: '1', definitions: [] } as const
  const module = { location: '/plugins/lines', address, plugins: [description] }
  const batches = javaSource(module, description, new ConnectorChains()).poll(context)[Symbol.asyncIterator]()

  const first = (await batches.next()).value as readonly SourceRecord[]
  const waiting = batches.next()
  ending.abort()
  expect(await waiting).toEqual({ done: false, value: [] })
  expect(received).not.toContain('source.stop')
  stored!(first, () => [{ topic: 'lines', partition: 0, offset: 0, timestampMs: 0 }])
  committed!()
  await batches.return?.()
  expect(received.slice(-3)).toEqual(['source.stored', 'source.committed', 'source.stop'])
})
