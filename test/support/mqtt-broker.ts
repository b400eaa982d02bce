import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A packet that a client sent. */
export type ClientPacket = { readonly type: number; readonly flags: number; readonly body: Buffer }

/** What a scripted broker does with a packet: the bytes to send, or `close`. */
export type BrokerScript = (packet: ClientPacket, connection: number) => Buffer | 'close' | undefined

export const CONNACK = Buffer.from([0x20, 2, 0, 0])

/** A broker that only does what the script says, until the end of the test. */
export async function startScriptedBroker(script: BrokerScript) {
  const packets: ClientPacket[] = []
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    const connection = sockets.push(socket)
    let held = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk])
      for (;;) {
        const packet = firstPacket(held)
        if (packet === undefined) return
        held = held.subarray(packet.bytes)
        packets.push(packet)
        const reply = script(packet, connection)
        if (reply === 'close') return void socket.destroy()
        if (reply !== undefined) socket.write(reply)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    uri: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    packets,
    /** Sends bytes on the last connection. */
    send: (bytes: Buffer) => void sockets.at(-1)!.write(bytes),
    connections: () => sockets.length,
  }
}

function firstPacket(bytes: Buffer): (ClientPacket & { readonly bytes: number }) | undefined {
  let length = 0
  for (let at = 1; at < bytes.length; at++) {
    length += (bytes[at]! & 0x7f) * 128 ** (at - 1)
    if (bytes[at]! >= 128) continue
    const end = at + 1 + length
    if (bytes.length < end) return undefined
    return { type: bytes[0]! >> 4, flags: bytes[0]! & 15, body: bytes.subarray(at + 1, end), bytes: end }
  }
  return undefined
}
