import { randomBytes, timingSafeEqual } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { MessageSplitter, withLength } from '../../common/message-splitter.ts'
import { BrokerError } from '../broker-error.ts'

/** Where another process of this machine reaches the embedded broker of this one. Who has the token may read and write all topics. */
export type SocketAddress = { readonly port: number; readonly token: string }

export type BackendListener = { readonly address: SocketAddress; close(): Promise<void> }

const TOKEN_BYTES = 32
/** Enough for the commands of one person. */
const CONNECTIONS_MAX = 16
/** A fetch returns 1 MiB, and a single larger batch. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024

/** Serves a broker to commands of this machine. `openPort` opens a port to it, as another thread gets it. */
export async function listenForCommands(openPort: () => Promise<MessagePort>): Promise<BackendListener> {
  const token = randomBytes(TOKEN_BYTES)
  const sockets = new Set<Socket>()
  /** Those that have not sent the token yet. */
  const unknown = new Set<Socket>()
  const server = createServer((socket) => {
    const [oldest] = unknown
    if (sockets.size >= CONNECTIONS_MAX) (oldest ?? socket).destroy()
    if (socket.destroyed) return
    sockets.add(socket)
    unknown.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      unknown.delete(socket)
    })
    socket.on('error', () => socket.destroy())
    void readToken(socket).then(
      async (sent) => {
        unknown.delete(socket)
        if (sent === undefined || !timingSafeEqual(sent, token)) socket.destroy()
        else relay(socket, await openPort())
      },
      () => socket.destroy(),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as { readonly port: number }
  return {
    address: { port, token: token.toString('hex') },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** A port to the broker of another process. It closes when that process ends. */
export async function connectToBroker({ port, token }: SocketAddress): Promise<MessagePort> {
  const socket = connect({ host: '127.0.0.1', port })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', (error) =>
      reject(new BrokerError('unavailable', `the program that has the data open does not respond: ${error.message}`)),
    )
  })
  socket.on('error', () => socket.destroy())
  socket.write(Buffer.from(token, 'hex'))
  const { port1, port2 } = new MessageChannel()
  relay(socket, port1)
  return port2
}

/** The bytes that the client sends first; undefined if it closes the connection before. What follows stays in the socket. */
function readToken(socket: Socket): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const onReadable = () => {
      const bytes = socket.read(TOKEN_BYTES) as Buffer | null
      if (bytes === null) return
      socket.off('readable', onReadable)
      resolve(bytes.length === TOKEN_BYTES ? bytes : undefined)
    }
    socket.on('readable', onReadable)
    socket.on('close', () => resolve(undefined))
  })
}

/** Passes messages on in both directions until one side closes. */
function relay(socket: Socket, port: MessagePort): void {
  const splitter = new MessageSplitter(
    { min: 0, max: MESSAGE_BYTES_MAX },
    (length) => new RangeError(`${length} bytes`),
  )
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const message of splitter.push(chunk)) port.postMessage(deserialize(message))
    } catch {
      // Not of a program of this version.
      socket.destroy()
    }
  })
  port.on('message', (message: unknown) => {
    socket.write(withLength(serialize(message)))
  })
  port.on('close', () => socket.destroy())
  socket.on('close', () => port.close())
  socket.resume()
}
