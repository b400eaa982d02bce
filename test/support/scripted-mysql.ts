import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { crc32 } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { EVENT } from '../../src/plugins/connectors/mysql/cdc/binlog/event-type.ts'
import { PacketStream } from '../../src/plugins/connectors/mysql/protocol/packet-stream.ts'

const OK = Buffer.from([0, 0, 0, 2, 0, 0, 0])
const COM_BINLOG_DUMP = 0x12
const PACKET_BYTES_MAX = 1 << 24

/** Bytes of numbers, hexadecimal digits and other bytes. */
export function bytesOf(...parts: readonly (number | string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    parts.map((part) =>
      typeof part === 'number'
        ? Buffer.from([part])
        : typeof part === 'string'
          ? Buffer.from(part.replaceAll(' ', ''), 'hex')
          : part,
    ),
  )
}

/** The greeting of a server with a plugin for passwords. */
export function mysqlGreeting(plugin: string, nonce: Buffer, capabilities = 0x88_a2_00): Buffer {
  const flags = Buffer.alloc(4)
  flags.writeUInt32LE(capabilities)
  const head = bytesOf(10, Buffer.from('8.4.0\0'), Buffer.alloc(4), nonce.subarray(0, 8), 0, flags.subarray(0, 2))
  return bytesOf(
    head,
    '000000',
    flags.subarray(2),
    nonce.length + 1,
    Buffer.alloc(10),
    nonce.subarray(8),
    0,
    Buffer.from(`${plugin}\0`),
  )
}

/** An event of a binary log, with its checksum unless it is within a compressed transaction. */
export function binlogEvent(
  type: number,
  body: Uint8Array,
  { flags = 0, position = 1000, hasChecksum = true } = {},
): Buffer {
  const length = 19 + body.length + (hasChecksum ? 4 : 0)
  const header = Buffer.alloc(19)
  header.writeUInt32LE(1_600_000_000, 0)
  header[4] = type
  header.writeUInt32LE(1, 5)
  header.writeUInt32LE(length, 9)
  header.writeUInt32LE(position, 13)
  header.writeUInt16LE(flags, 17)
  const event = Buffer.concat([header, body])
  if (!hasChecksum) return event
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32LE(crc32(event))
  return Buffer.concat([event, checksum])
}

/** The first events of each file: its name, and that events have checksums. */
export const FIRST_EVENTS: readonly Buffer[] = [
  binlogEvent(EVENT.rotate, bytesOf('0400000000000000', Buffer.from('binlog.000001')), { position: 0 }),
  binlogEvent(EVENT.formatDescription, bytesOf(Buffer.alloc(96), 1), { position: 0 }),
]

/** A server whose log has these events; it then ends the connection, or waits. Returns its port. */
export async function startScriptedMysql(
  events: readonly Buffer[],
  { afterwards = 'wait' }: { readonly afterwards?: 'wait' | 'end' } = {},
): Promise<number> {
  return startMysqlAt(async (packets, socket) => {
    packets.write(mysqlGreeting('mysql_native_password', Buffer.from('01234567890123456789')))
    await packets.read()
    packets.write(OK)
    for (;;) {
      const command = await packets.read()
      if (command[0] === COM_BINLOG_DUMP) break
      packets.write(OK)
    }
    for (const event of [...FIRST_EVENTS, ...events]) packets.write(Buffer.concat([Buffer.from([0]), event]))
    if (afterwards === 'end') socket.end()
  })
}

/** A server that handles each connection with `serve`, which may reject when the connection ends. */
export async function startMysqlAt(serve: (packets: PacketStream, socket: Socket) => Promise<void>): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    serve(new PacketStream(socket, PACKET_BYTES_MAX), socket).catch(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}
