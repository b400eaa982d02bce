import { isIP } from 'node:net'
import { type ConnectionOptions, connect } from 'node:tls'
import { MysqlReader } from './mysql-reader.ts'
import type { PacketStream } from './packet-stream.ts'
import { encryptedPassword, firstAnswer, type PasswordUse, plainText } from './password-answers.ts'

export type LoginOptions = Omit<PasswordUse, 'isSecure'> & {
  readonly user: string
  /** Undefined for a connection without TLS. */
  readonly tls: ConnectionOptions | undefined
  /** Whether the connection does not leave this machine. */
  readonly isLocal: boolean
  /** The name that the server's certificate must have. */
  readonly host: string | undefined
}

const LONG_PASSWORD = 0x1
const LONG_FLAG = 0x4
const PROTOCOL_41 = 0x200
const SSL = 0x800
const TRANSACTIONS = 0x2000
const SECURE_CONNECTION = 0x8000
const PLUGIN_AUTH = 0x80000
const PLUGIN_AUTH_LENENC = 0x200000
const CAPABILITIES =
  LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH | PLUGIN_AUTH_LENENC
const UTF8MB4_GENERAL_CI = 45
const PACKET_BYTES_MAX = 0xff_ff_ff
const GREETING_VERSION = 10
/** Packets with which a server may continue a login. */
const LOGIN_PACKETS_MAX = 16

const OK = 0x00
const MORE = 0x01
const SWITCH = 0xfe
const FAILED = 0xff
const FAST_OK = 3
const FULL_LOGIN = 4

/** Logs in on a new connection. Rejects with an error that has the server's number and SQLSTATE if it refuses. */
export async function logInToServer(packets: PacketStream, options: LoginOptions): Promise<void> {
  const greeting = readGreeting(await packets.read())
  const { user, tls, isLocal } = options
  const flags = CAPABILITIES | (tls === undefined ? 0 : SSL)
  const head = Buffer.alloc(32)
  head.writeUInt32LE(flags, 0)
  head.writeUInt32LE(PACKET_BYTES_MAX, 4)
  head[8] = UTF8MB4_GENERAL_CI
  if (tls !== undefined) {
    if ((greeting.capabilities & SSL) === 0) throw new Error('the server does not support SSL')
    packets.write(head)
    await startTls(packets, tls, options.host)
  }
  const use = { ...options, isSecure: tls !== undefined || isLocal }
  const answer = firstAnswer(greeting.plugin, greeting.nonce, use)
  packets.write(
    Buffer.concat([head, Buffer.from(`${user}\0`), withLength(answer), Buffer.from(`${greeting.plugin}\0`)]),
  )
  await finishLogin(packets, greeting, use)
}

type Greeting = { readonly capabilities: number; readonly plugin: string; readonly nonce: Buffer }

function readGreeting(packet: Buffer): Greeting {
  const reader = new MysqlReader(packet, 'the greeting of the server')
  const version = reader.uint8()
  if (version === FAILED) throw serverError(packet)
  if (version !== GREETING_VERSION) throw reader.fault(`has the version ${version}, not ${GREETING_VERSION}`)
  reader.zeroTerminated()
  reader.skip(4)
  const first = reader.view(8)
  reader.skip(1)
  const low = reader.uint16()
  reader.skip(3)
  const capabilities = low | (reader.uint16() << 16)
  const nonceBytes = reader.uint8()
  reader.skip(10)
  const second = reader.view(Math.max(13, nonceBytes - 8))
  const plugin = reader.remaining > 0 ? reader.zeroTerminated() : 'mysql_native_password'
  return { capabilities, plugin, nonce: Buffer.concat([first, second]) }
}

async function finishLogin(packets: PacketStream, greeting: Greeting, use: PasswordUse): Promise<void> {
  let { plugin, nonce } = greeting
  for (let count = 0; count < LOGIN_PACKETS_MAX; count += 1) {
    const packet = await packets.read()
    switch (packet[0]) {
      case OK:
        return
      case FAILED:
        throw serverError(packet)
      case SWITCH: {
        const reader = new MysqlReader(packet, 'the request for another authentication', 1)
        plugin = reader.zeroTerminated()
        nonce = reader.rest()
        packets.write(firstAnswer(plugin, nonce, use))
        break
      }
      case MORE:
        await answerMore(packets, packet, { plugin, nonce, use })
        break
      default:
        throw new MysqlReader(packet, 'the answer to the login').fault('has an unknown form')
    }
  }
  throw new Error('the server does not end the login')
}

async function answerMore(
  packets: PacketStream,
  packet: Buffer,
  { plugin, nonce, use }: { readonly plugin: string; readonly nonce: Buffer; readonly use: PasswordUse },
): Promise<void> {
  const { password, isSecure, allowsPublicKeyRetrieval } = use
  const isCaching = plugin === 'caching_sha2_password'
  if (isCaching && packet[1] === FAST_OK) return
  if (!isCaching && plugin !== 'sha256_password')
    throw new Error(`the plugin ${plugin} asks for more than is supported`)
  if (isCaching && packet[1] !== FULL_LOGIN)
    throw new Error('the server sent an unknown request to caching_sha2_password')
  if (isSecure) {
    packets.write(plainText(password))
    return
  }
  if (!allowsPublicKeyRetrieval) {
    throw new Error(
      'the server needs the password, which is not sent over a connection without TLS: set database.ssl.mode to one with TLS, or ' +
        'driver.allowPublicKeyRetrieval=true to encrypt it with a key that the server sends unverified',
    )
  }
  if (isCaching) packets.write(Buffer.from([2]))
  const key = isCaching ? await packets.read() : packet
  packets.write(encryptedPassword(password, nonce, key.subarray(1).toString()))
}

async function startTls(packets: PacketStream, tls: ConnectionOptions, host: string | undefined): Promise<void> {
  const servername = host === undefined || isIP(host) !== 0 ? {} : { servername: host }
  const encrypted = packets.replaceStream((plain) =>
    connect({ ...servername, ...tls, socket: plain as never, ...(host && { host }) }),
  )
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  encrypted.once('secureConnect', resolve)
  encrypted.once('error', reject)
  encrypted.once('close', () => reject(new Error('the connection was closed before TLS was established')))
  return promise
}

/** Lengths above 250 have two bytes after the first one. */
function withLength(bytes: Buffer): Buffer {
  const { length } = bytes
  return Buffer.concat([Buffer.from(length <= 250 ? [length] : [0xfc, length & 0xff, length >> 8]), bytes])
}

/** The error of an error packet, in the form of the client library. */
export function serverError(packet: Buffer): Error {
  const reader = new MysqlReader(packet, 'the error of the server', 1)
  const errno = reader.uint16()
  const text = reader.rest().toString()
  const [, sqlState = 'HY000', sqlMessage = text] = /^#(.{5})(.*)$/s.exec(text) ?? []
  return Object.assign(new Error(sqlMessage), { errno, sqlState, sqlMessage, code: `ER_${errno}` })
}
