import { createHash } from 'node:crypto'
import { duplexPair } from 'node:stream'
import { expect, it } from 'vitest'
import { type LoginOptions, logInToServer } from '../../../../src/plugins/connectors/mysql/protocol/login.ts'
import { PacketStream } from '../../../../src/plugins/connectors/mysql/protocol/packet-stream.ts'
import { mysqlGreeting } from '../../../support/scripted-mysql.ts'

const NONCE = Buffer.from('01234567890123456789')
const OPTIONS: LoginOptions = {
  user: 'me',
  password: 'secret',
  tls: undefined,
  isLocal: false,
  host: undefined,
  allowsPublicKeyRetrieval: false,
}

const greeting = (plugin: string, capabilities?: number) => mysqlGreeting(plugin, NONCE, capabilities)

/** A server that sends a packet after each one that it receives, and remembers those. */
function scripted(first: Buffer, ...answers: readonly Buffer[]) {
  const [client, server] = duplexPair()
  const packets = new PacketStream(server, 1 << 20)
  const received: Buffer[] = []
  const run = async () => {
    packets.write(first)
    for (const answer of answers) {
      received.push(await packets.read())
      packets.write(answer)
    }
  }
  // The connection ends with the test.
  run().catch(() => undefined)
  return { stream: new PacketStream(client, 1 << 20), received }
}

const sha = (algorithm: string, ...parts: readonly Uint8Array[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash(algorithm)).digest()
const xor = (one: Buffer, other: Buffer) => Buffer.from(one.map((byte, index) => byte ^ other[index]!))

it('a login answers the nonce of the server, and follows its request for another plugin', async () => {
  const other = Buffer.concat([Buffer.from([0xfe]), Buffer.from('caching_sha2_password\0'), NONCE, Buffer.alloc(1)])
  const server = scripted(greeting('mysql_native_password'), other, Buffer.from([1, 3, 0]), Buffer.from([0]))
  const login = logInToServer(server.stream, OPTIONS)
  // The client sends nothing after the quick acceptance, so the server sends the last packet by itself.
  await expect.poll(() => server.received.length).toBe(2)
  const secret = Buffer.from('secret')
  const native = xor(sha('sha1', secret), sha('sha1', NONCE, sha('sha1', sha('sha1', secret))))
  expect(server.received[0]!.includes(native)).toBe(true)
  expect(server.received[0]!.includes(Buffer.from('me\0'))).toBe(true)
  const caching = xor(sha('sha256', secret), sha('sha256', sha('sha256', sha('sha256', secret)), NONCE))
  expect(server.received[1]).toEqual(caching)
  server.stream.stream.destroy()
  await expect(login).rejects.toThrow('closed')
})

it('a login without TLS never sends the password, unless the configuration permits the key of the server', async () => {
  const full = Buffer.from([1, 4])
  const server = scripted(greeting('caching_sha2_password'), full)
  await expect(logInToServer(server.stream, OPTIONS)).rejects.toThrow('driver.allowPublicKeyRetrieval=true')
  const clear = scripted(greeting('mysql_clear_password'))
  await expect(logInToServer(clear.stream, OPTIONS)).rejects.toThrow('which is sent over TLS only')
  const local = scripted(greeting('mysql_clear_password'), Buffer.from([0]))
  await logInToServer(local.stream, { ...OPTIONS, isLocal: true })
  expect(local.received[0]!.includes(Buffer.from('secret\0'))).toBe(true)
})

it('a login refuses a server without TLS, an unknown plugin and a version that it does not know', async () => {
  const noTls = scripted(greeting('mysql_native_password', 0x80_82_00))
  await expect(logInToServer(noTls.stream, { ...OPTIONS, tls: {} })).rejects.toThrow('does not support SSL')
  const unknown = scripted(greeting('auth_gssapi_client'))
  await expect(logInToServer(unknown.stream, OPTIONS)).rejects.toThrow('auth_gssapi_client')
  const old = scripted(Buffer.from([9, 0]))
  await expect(logInToServer(old.stream, OPTIONS)).rejects.toThrow('version 9')
  const denied = scripted(Buffer.concat([Buffer.from([0xff, 0x10, 0x04]), Buffer.from('#08004Too many connections')]))
  await expect(logInToServer(denied.stream, OPTIONS)).rejects.toMatchObject({ errno: 1040, sqlState: '08004' })
})

it('a login with TLS refuses packets that were sent before the connection is encrypted', async () => {
  const [client, server] = duplexPair()
  const packets = new PacketStream(server, 1 << 20)
  const login = logInToServer(new PacketStream(client, 1 << 20), { ...OPTIONS, tls: {} })
  packets.write(greeting('mysql_native_password', 0x88_aa_00))
  packets.write(Buffer.from([0]))
  await expect(login).rejects.toThrow('the server sent data before the connection was encrypted')
})

it('packets are joined from their parts, and one that is too long is refused', async () => {
  const [client, server] = duplexPair()
  const packets = new PacketStream(client, 0x1_00_00_01)
  const part = Buffer.alloc(4 + 0xff_ff_ff, 7)
  part.writeUIntLE(0xff_ff_ff, 0, 3)
  server.write(part.subarray(0, 10))
  const read = packets.read()
  server.write(part.subarray(10))
  server.write(Buffer.from([2, 0, 0, 1, 8, 9]))
  const packet = await read
  expect([packet.length, packet[0], packet.at(-1)]).toEqual([0x1_00_00_01, 7, 9])
  server.write(part)
  server.write(Buffer.from([3, 0, 0, 1, 1, 2, 3]))
  await expect(packets.read()).rejects.toThrow('a packet of more than 16777217 bytes')
})
