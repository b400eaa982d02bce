import { copyFileSync } from 'node:fs'
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { API_REQUIREMENTS } from '../../../src/broker/kafka/api-requirements.ts'
import { readClientConfig } from '../../../src/broker/kafka/client-config.ts'
import type { KafkaApi } from '../../../src/broker/kafka/kafka-api.ts'
import { createConnector } from '../../../src/broker/kafka/kafka-connection.ts'
import { ProtocolReader, ProtocolWriter } from '../../../src/broker/protocol-primitives.ts'
import { type Clock, systemClock } from '../../../src/common/clock.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { tlsMaterial } from '../../../src/tls/tls-material.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const pem = (name: string) => join(import.meta.dirname, '../../support/tls', name)
const SETUP_MS = 10_000
const TRUST = { 'ssl.truststore.location': pem('ca.pem') }

it('uses the current client certificate for each new connection', async () => {
  const keystore = join(temporaryDirectory(), 'keystore.pem')
  copyFileSync(pem('client.pem'), keystore)
  const shown: string[] = []
  const material = tlsMaterial({ ...TRUST, 'ssl.keystore.location': pem('server.pem') })
  const server = createServer({ ...material, requestCert: true, rejectUnauthorized: false }, (socket) => {
    shown.push(String(socket.getPeerCertificate().subject.CN))
    socket.on('error', () => undefined).destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { config, tls } = readClientConfig({
    'bootstrap.servers': '127.0.0.1:1',
    'security.protocol': 'SSL',
    'ssl.keystore.location': keystore,
    ...TRUST,
  })
  const lines = createConnector(config, { logger: silentLogger(), tls })
  onTestFinished(() => lines.close())
  const { port } = server.address() as AddressInfo
  const shownNow = async () => {
    // The server closes the connection before the client can send anything.
    await expect(lines.open({ host: '127.0.0.1', port }, SETUP_MS)).rejects.toMatchObject({ code: 'unavailable' })
    return shown.at(-1)
  }
  expect(await shownNow()).toBe('client')
  copyFileSync(pem('server.pem'), keystore)
  await vi.waitFor(async () => expect(await shownNow()).toBe('server'), { timeout: 25_000 })
})

describe('a connection', () => {
  const API: KafkaApi<string, string> = {
    key: 3,
    name: 'Metadata',
    version: 7,
    rights: () => ({}),
    write: (writer, text) => writer.string(text),
    read: (reader) => reader.string(),
  }
  const API_VERSIONS = 18
  const [PRODUCE, FETCH, END_TXN] = [0, 1, 26]
  type Versions = Readonly<Record<number, readonly [min: number, max: number] | undefined>>

  /** Opens a connection to a server that calls `answer` with each request and its correlation id, except the first one. */
  async function open(
    answer: (socket: Socket, id: number, body: ProtocolReader, version: number) => void,
    apis: Versions = {},
    logger = silentLogger(),
    clock: Clock = systemClock,
  ) {
    const server = createPlainServer((socket) => {
      let received = Buffer.alloc(0)
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk])
        while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
          const reader = new ProtocolReader(received.subarray(4, 4 + received.readInt32BE(0)))
          received = received.subarray(4 + received.readInt32BE(0))
          const [key, version, id] = [reader.int16(), reader.int16(), reader.int32()]
          reader.string()
          if (key === API_VERSIONS) socket.write(responseOf(id, versionsOf(apis)))
          else answer(socket, id, reader, version)
        }
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { config } = readClientConfig({ 'bootstrap.servers': '127.0.0.1:1', 'request.timeout.ms': '300' })
    const { port } = server.address() as AddressInfo
    const connector = createConnector(config, { logger, tls: undefined, clock })
    const connection = await connector.open({ host: '127.0.0.1', port }, SETUP_MS)
    onTestFinished(async () => {
      await connection.close()
      server.close()
    })
    return connection
  }

  /** The versions that Weir needs, except those of the APIs in `other`. */
  function versionsOf(other: Versions): ProtocolWriter {
    const needed = API_REQUIREMENTS.flatMap(({ apis }) => apis).map(({ key, version }) => [key, [0, version]] as const)
    const versions: Versions = { ...Object.fromEntries(needed), ...other }
    const all = Object.entries(versions).flatMap(([key, range]) => (range ? [[Number(key), ...range] as const] : []))
    const writer = new ProtocolWriter().int16(0)
    return writer.array(all, ([key, min, max]) => writer.int16(key).int16(min).int16(max))
  }

  function responseOf(id: number, body: ProtocolWriter): Buffer {
    const bytes = Buffer.concat([...new ProtocolWriter().int32(id).parts(), ...body.parts()])
    return Buffer.concat([...new ProtocolWriter().int32(bytes.length).parts(), bytes])
  }

  it('assigns responses to their calls, however their bytes arrive', async () => {
    const connection = await open((socket, id, body) => {
      const response = responseOf(id, new ProtocolWriter().string(body.string()))
      for (const byte of response) socket.write(Buffer.of(byte))
    })
    const texts = ['a', 'b'.repeat(300), '']
    expect(await Promise.all(texts.map((text) => connection.call(API, text)))).toEqual(texts)
  })

  it('uses an earlier version of an API if the server has no later one', async () => {
    const connection = await open(
      (socket, id, _, version) => void socket.write(responseOf(id, new ProtocolWriter().string(`version ${version}`))),
      { 3: [0, 6] },
    )
    const apis = { ...API, earlierVersion: 5 }
    expect(await connection.call(apis, '')).toBe('version 5')
    await expect(connection.call(API, '')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/^the broker 127.0.0.1:\d+: Metadata has versions 0 to 6, but Weir needs 7$/),
    })
    expect(connection.isOpen).toBe(true)
  })

  it.each<[Versions, RegExp]>([
    [
      { [PRODUCE]: [0, 6] },
      /broker 127.0.0.1:\d+: Produce has versions 0 to 6, but Weir needs 8 or 7\. docs\/kafka.md/,
    ],
    [{ [FETCH]: [12, 17] }, /Fetch has versions 12 to 17, but Weir needs 11 or 6/],
    [{ [FETCH]: undefined }, /Fetch is not available, but Weir needs 11 or 6/],
  ])('is not opened if the server has versions %j, which Weir cannot work with', async (versions, message) => {
    const failure = await open(() => undefined, versions).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringMatching(message) })
  })

  it('warns once of what is not possible with the server', async () => {
    const warnings: string[] = []
    const logger = { ...silentLogger(), warn: (message: string) => void warnings.push(message) }
    await open(() => undefined, { [END_TXN]: undefined }, logger as unknown as ReturnType<typeof silentLogger>)
    expect(warnings).toEqual([
      expect.stringMatching(
        /^with the broker 127.0.0.1:\d+, transactions fail: .* \(EndTxn is not available, but Weir needs 1\)$/,
      ),
    ])
  })

  it('is closed when a response does not arrive in time, which rejects all of its calls', async () => {
    const connection = await open(() => undefined)
    const calls = await Promise.allSettled(['a', 'b'].map((text) => connection.call(API, text)))
    expect(calls).toMatchObject([{ reason: { code: 'timeout' } }, { reason: { code: 'timeout' } }])
    expect(connection.isOpen).toBe(false)
    await expect(connection.call(API, 'c')).rejects.toMatchObject({ code: 'timeout' })
  })

  it('rejects its calls when the server closes it, sends something else, or when it is closed', async () => {
    const closed = await open((socket) => socket.end())
    await expect(closed.call(API, 'a')).rejects.toMatchObject({ code: 'unavailable' })
    const other = await open((socket) => void socket.write('HTTP/1.1 400 Bad Request'))
    await expect(other.call(API, 'a')).rejects.toMatchObject({ code: 'unavailable' })
    const own = await open(() => undefined)
    const call = expect(own.call(API, 'a')).rejects.toMatchObject({ code: 'closed' })
    await own.close()
    await call
  })
})
