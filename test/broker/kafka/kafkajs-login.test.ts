import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { login, type SaslOptions, type SendRequest } from '../../../src/broker/kafka/kafkajs-login.ts'
import { ProtocolReader, ProtocolWriter } from '../../../src/broker/protocol-primitives.ts'

const HANDSHAKE = 17
const AUTHENTICATE = 36
const PLAIN = { mechanism: 'plain', username: 'alice', password: 'secret' } as const

const bytesOf = (writer: ProtocolWriter) => Buffer.concat(writer.parts())

/** A server whose mechanism answers the messages of the client; an answer that is a number is an error code. */
function serverOf(
  answers: readonly ((message: Buffer) => string | number)[],
  { lifetimeMs = 0, handshakeError = 0 } = {},
) {
  const received: string[] = []
  const send: SendRequest = async ({ key, version, name }, body) => {
    const reader = new ProtocolReader(body)
    if (key === HANDSHAKE) {
      received.push(`${name} ${version} ${reader.string()}`)
      const mechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER']
      const writer = new ProtocolWriter().int16(handshakeError)
      return bytesOf(writer.array(mechanisms, (mechanism) => writer.string(mechanism)))
    }
    expect(key).toBe(AUTHENTICATE)
    const message = reader.data()
    received.push(`${name} ${version}`)
    const answer = answers[received.length - 2]!(message)
    const writer = new ProtocolWriter().int16(typeof answer === 'number' ? answer : 0)
    writer.string(typeof answer === 'number' ? 'Invalid username or password' : null)
    return bytesOf(writer.data(Buffer.from(typeof answer === 'number' ? '' : answer)).int64(lifetimeMs))
  }
  return { received, send, login: (sasl: SaslOptions) => login({ host: 'broker', port: 9092, send }, sasl) }
}

/** The server's side of SCRAM (RFC 5802). */
function scramServer(hash: 'sha256' | 'sha512', password: string) {
  const salt = Buffer.from('salt')
  let [clientFirst, serverFirst] = ['', '']
  return serverOf([
    (message) => {
      clientFirst = message.toString().slice('n,,'.length)
      serverFirst = `r=${/r=([^,]*)/.exec(clientFirst)![1]}server,s=${salt.toString('base64')},i=4096`
      return serverFirst
    },
    (message) => {
      const [withoutProof, proof] = message.toString().split(',p=')
      const hmac = (key: Buffer, text: string) => createHmac(hash, key).update(text).digest()
      const salted = pbkdf2Sync(password, salt, 4096, hash === 'sha256' ? 32 : 64, hash)
      const clientKey = hmac(salted, 'Client Key')
      const all = `${clientFirst},${serverFirst},${withoutProof}`
      const signature = hmac(createHash(hash).update(clientKey).digest(), all)
      const expected = Buffer.from(clientKey.map((byte, index) => byte ^ signature[index]!))
      expect(proof).toBe(expected.toString('base64'))
      return `v=${hmac(hmac(salted, 'Server Key'), all).toString('base64')}`
    },
  ])
}

describe('the login of kafkajs', () => {
  it('sends a handshake and the credentials in the versions that Kafka 3.9 and 4 support', async () => {
    const server = serverOf([(message) => message.toString().replaceAll('\0', '|')], { lifetimeMs: 60_000 })
    expect(await server.login(PLAIN)).toBe(60_000)
    expect(server.received).toEqual(['SaslHandshake 1 PLAIN', 'SaslAuthenticate 1'])
  })

  it('fails when the server answers a token with a challenge, which is a rejection', async () => {
    const server = serverOf([() => '{"status":"invalid_token"}'])
    const login = server.login({ mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: 'expired' }) })
    await expect(login).rejects.toMatchObject({
      code: 'not_authenticated',
      message: expect.stringContaining('the server rejected the token: {"status":"invalid_token"}'),
    })
  })

  it('sends the extensions of a token', async () => {
    const messages: string[] = []
    const server = serverOf([(message) => `${messages.push(message.toString())}`.slice(1)])
    const extensions = { logicalCluster: 'lkc-1', identityPoolId: 'pool-1' }
    const oauthBearerProvider = async () => ({ value: 'token', extensions })
    await server.login({ mechanism: 'oauthbearer', oauthBearerProvider })
    const pairs = ['auth=Bearer token', 'logicalCluster=lkc-1', 'identityPoolId=pool-1']
    expect(messages).toEqual([`n,,\u0001${pairs.join('\u0001')}\u0001\u0001`])
  })

  it('proves a password by SCRAM', async () => {
    for (const hash of ['sha256', 'sha512'] as const) {
      const mechanism = hash === 'sha256' ? 'scram-sha-256' : 'scram-sha-512'
      const server = scramServer(hash, 'secret')
      expect(await server.login({ mechanism, username: 'alice', password: 'secret' })).toBe(0)
      expect(server.received).toHaveLength(3)
    }
  })

  it('requests a token for each login, and leaves the options as they are', async () => {
    let tokens = 0
    const sasl = {
      mechanism: 'oauthbearer' as const,
      oauthBearerProvider: async () => ({ value: `token-${++tokens}` }),
    }
    for (const number of [1, 2]) {
      const server = serverOf([(message) => (message.toString().includes(`auth=Bearer token-${number}`) ? '' : 58)])
      expect(await server.login(sasl)).toBe(0)
    }
    expect(Object.keys(sasl)).toEqual(['mechanism', 'oauthBearerProvider'])
  })

  it('reads a password that is a function for each login', async () => {
    const passwords = ['first', 'second']
    const sasl = { mechanism: 'scram-sha-512' as const, username: 'alice', password: () => passwords.shift()! }
    for (const password of ['first', 'second']) expect(await scramServer('sha512', password).login(sasl)).toBe(0)
  })

  it('rejects with the reason of the server, or the error of the connection', async () => {
    await expect(serverOf([() => 58]).login(PLAIN)).rejects.toMatchObject({
      code: 'not_authenticated',
      message: expect.stringContaining('Invalid username or password'),
    })
    await expect(serverOf([], { handshakeError: 34 }).login(PLAIN)).rejects.toMatchObject({ code: 34 })
    const broken = new Error('broken')
    const send = () => Promise.reject(broken)
    await expect(login({ host: 'broker', port: 9092, send }, PLAIN)).rejects.toBe(broken)
  })
})
